package io.pushplanet.gateway.fanout;

import io.lettuce.core.SetArgs;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.wire.FanoutOrder;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which steps of fan-outs have begun and which are done, in Redis: a small key for each, that ends by itself. A step publishes the order for the rest before its
/// own is acknowledged, so one that is handed out again publishes it once more; of two orders for one step only the first that begins is
/// expanded. Else everybody behind the page would get the message once for each time that something was repeated before him.
///
/// While Redis is away every order is expanded: twice is better than not at all. Thread-safe; blocks.
final class FanoutSteps {
  private static final Logger LOG = LoggerFactory.getLogger(FanoutSteps.class);
  private static final Duration KEPT = Duration.ofDays(1);

  /// A step takes seconds. Of one that began so long ago and is not done, the order is no copy: an operator had it replayed, for instance.
  private static final Duration LONGEST_STEP = Duration.ofMinutes(10);

  static final int MOST_FAILED = 3;

  private static final String DONE = "done";

  private final RedisLink redis;
  private final Clock clock;

  FanoutSteps(RedisLink redis, Clock clock) {
    this.redis = redis;
    this.clock = clock;
  }

  /// Does the steps of orders that share an AMQP message. One that fails keeps no neighbour back, which may be another app's: the
  /// message is handed out again, and those that are done are left out then. Where [#MOST_FAILED] fail, all the rest would.
  ///
  /// @throws RuntimeException what the first that failed did
  void takeEach(List<FanoutOrder> orders, boolean redelivered, Consumer<FanoutOrder> expand) {
    RuntimeException first = null;
    int failed = 0;
    for (FanoutOrder order : orders) {
      try {
        take(order, redelivered, expand);
      } catch (RuntimeException e) {
        first = first == null ? e : first;
        failed++;
        if (failed == MOST_FAILED) {
          break;
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /// Does the step, unless it is done, or under way by another order. One that fails may begin again.
  ///
  /// @param redelivered whether the broker has handed this very order out before: whoever had it then is gone
  void take(FanoutOrder order, boolean redelivered, Consumer<FanoutOrder> expand) {
    String key = key(order);
    if (!mayBegin(key, redelivered)) {
      LOG.info(
          "event=fanout_step_left_out messageId={} redelivered={}", order.push().id(), redelivered);
      return;
    }
    try {
      expand.accept(order);
    } catch (RuntimeException | Error e) {
      tell(() -> redis.ask(commands -> commands.del(key)));
      throw e;
    }
    tell(() -> redis.ask(commands -> commands.set(key, DONE, SetArgs.Builder.px(KEPT))));
  }

  private static String key(FanoutOrder order) {
    var after = order.after();
    return "fanout-step:{" + order.push().id() + "}:" + (after == null ? "" : after.value());
  }

  private boolean mayBegin(String key, boolean redelivered) {
    try {
      String now = Long.toString(clock.millis());
      if (redis.ask(commands -> commands.set(key, now, SetArgs.Builder.nx().px(KEPT))) != null) {
        return true;
      }
      String state = redis.ask(commands -> commands.get(key));
      return state == null || (!state.equals(DONE) && (redelivered || isLongAgo(state)));
    } catch (DirectoryUnavailable e) {
      return true;
    }
  }

  private boolean isLongAgo(String millis) {
    return Math.abs(clock.millis() - Long.parseLong(millis)) > LONGEST_STEP.toMillis();
  }

  private static void tell(Runnable what) {
    try {
      what.run();
    } catch (DirectoryUnavailable e) {
      LOG.debug("event=fanout_step_not_told", e);
    }
  }
}
