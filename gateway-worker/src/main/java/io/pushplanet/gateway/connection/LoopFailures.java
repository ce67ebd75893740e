package io.pushplanet.gateway.connection;

import java.nio.channels.ClosedSelectorException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Logs what ends an event loop of HttpComponents. A loop that is closed before it ran reports a
/// closed selector, which is not logged.
final class LoopFailures {
  private static final Logger LOG = LoggerFactory.getLogger(LoopFailures.class);

  private LoopFailures() {}

  static void log(Exception failure) {
    if (!(failure instanceof ClosedSelectorException)) {
      LOG.error("event=http_loop_failed", failure);
    }
  }
}
