package io.pushplanet.common.settings;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import java.util.Set;

/// A database that answers but accepts no changes: a failover has made it a replica, or its disk is
/// full. The pool closes a connection that reports itself as a replica's, so that the next
/// connection leads to the new primary; otherwise the pool would keep it for half an hour.
/// Thread-safe.
public final class ReadOnlyDatabase implements SQLExceptionOverride {
  /// `--read-only` and `--super-read-only`, a read-only transaction, and a server in read-only mode
  /// (https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html).
  private static final Set<Integer> REPLICA = Set.of(1290, 1792, 1836);

  /// A full disk, and a table space that cannot grow.
  private static final Set<Integer> FULL = Set.of(1021, 1114);

  /// Whether the same statement may succeed later or on another server.
  public static boolean isToldBy(SQLException refusal) {
    return REPLICA.contains(refusal.getErrorCode()) || FULL.contains(refusal.getErrorCode());
  }

  @java.lang.Override
  public SQLExceptionOverride.Override adjudicate(SQLException refusal) {
    return REPLICA.contains(refusal.getErrorCode())
        ? SQLExceptionOverride.Override.MUST_EVICT
        : SQLExceptionOverride.Override.CONTINUE_EVICT;
  }
}
