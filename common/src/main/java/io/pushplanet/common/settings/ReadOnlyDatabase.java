package io.pushplanet.common.settings;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import java.util.Set;

/// A database that is there but takes no changes: one that a failover has made a replica, or whose disk is full. The pool gives
/// up a connection over which it hears of the former, so that the next one leads to the new primary; it would keep it for half
/// an hour. Thread-safe.
public final class ReadOnlyDatabase implements SQLExceptionOverride {
  /// `--read-only` and `--super-read-only`, a read-only transaction, and a server in read-only mode
  /// (https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html).
  private static final Set<Integer> REPLICA = Set.of(1290, 1792, 1836);

  /// A full disk, and a table space that cannot grow.
  private static final Set<Integer> FULL = Set.of(1021, 1114);

  /// Whether the statement may do as it is, later or elsewhere.
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
