package io.pushplanet.gateway.connection;

import java.nio.channels.ClosedSelectorException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What ends an event loop of HttpComponents, told in the log. A loop that is closed at once says that its selector is closed,
/// which is no news.
final class LoopFailures {
  private static final Logger LOG = LoggerFactory.getLogger(LoopFailures.class);

  private LoopFailures() {}

  static void log(Exception failure) {
    if (!(failure instanceof ClosedSelectorException)) {
      LOG.error("event=http_loop_failed", failure);
    }
  }
}
