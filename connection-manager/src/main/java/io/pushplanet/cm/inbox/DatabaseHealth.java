package io.pushplanet.cm.inbox;

import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether MySQL answered last time. Logs each change once. Thread-safe.
final class DatabaseHealth {
  private static final Logger LOG = LoggerFactory.getLogger(DatabaseHealth.class);

  private volatile boolean reachable = true;

  boolean isReachable() {
    return reachable;
  }

  void failed(SQLException away) {
    if (reachable) {
      reachable = false;
      LOG.warn("event=inbox_away reason=\"{}\"", away.getMessage());
    }
  }

  void answered() {
    if (!reachable) {
      reachable = true;
      LOG.info("event=inbox_back");
    }
  }
}
