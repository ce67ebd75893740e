package io.pushplanet.gateway.fanout;

import io.lettuce.core.SetArgs;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.wire.FanoutOrder;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Knows from Redis which steps of fan-outs have begun and which are done: a small key for each,
/// which ends by itself. A step publishes the order for the rest before its own order is
/// acknowledged, so a step that is repeated publishes it once more. Of two orders for one step only
/// the first that begins is expanded: otherwise each repetition would send the message once more to
/// all devices behind that page. For the same reason Redis also knows where a step's page ends.
///
/// While Redis is away every order is expanded: twice is better than not at all. Thread-safe;
/// blocks.
final class FanoutSteps {
  private static final Logger LOG = LoggerFactory.getLogger(FanoutSteps.class);
  private static final Duration KEPT = Duration.ofDays(1);

  /// A step takes seconds. If it began so long ago and is not done, its order is no copy: an
  /// operator may have replayed it.
  private static final Duration LONGEST_STEP = Duration.ofMinutes(10);

  private static final String DONE = "done";

  private final RedisLink redis;
  private final Clock clock;

  FanoutSteps(RedisLink redis, Clock clock) {
    this.redis = redis;
    this.clock = clock;
  }

  /// Does the step, unless it is done, or under way by another order. A failed step may begin
  /// again.
  ///
  /// @param redelivered whether the broker has handed this very order out before: the worker that
  ///     had it then is gone
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

  /// Where the step's page ends, if an earlier try of the step has got so far.
  Optional<DeviceId> end(FanoutOrder order) {
    try {
      String end = redis.ask(commands -> commands.get(endKey(order)));
      return Optional.ofNullable(end).map(DeviceId::new);
    } catch (RedisUnavailable e) {
      return Optional.empty();
    }
  }

  /// To be called before the order for the rest is published. If the step is repeated and a device
  /// of its page has come or gone meanwhile, the order for the rest is still the same one.
  ///
  /// @return the end that counts: another worker may have been faster
  DeviceId fixEnd(FanoutOrder order, DeviceId last) {
    try {
      boolean first =
          redis.ask(commands ->
              commands.set(endKey(order), last.value(), SetArgs.Builder.nx().px(KEPT)))
              != null;
      return first ? last : end(order).orElse(last);
    } catch (RedisUnavailable e) {
      return last;
    }
  }

  private static String key(FanoutOrder order) {
    return key("fanout-step", order);
  }

  private static String endKey(FanoutOrder order) {
    return key("fanout-end", order);
  }

  private static String key(String what, FanoutOrder order) {
    var after = order.after();
    return what + ":{" + order.push().id() + "}:" + (after == null ? "" : after.value());
  }

  private boolean mayBegin(String key, boolean redelivered) {
    try {
      String now = Long.toString(clock.millis());
      if (redis.ask(commands -> commands.set(key, now, SetArgs.Builder.nx().px(KEPT))) != null) {
        return true;
      }
      String state = redis.ask(commands -> commands.get(key));
      return state == null || (!state.equals(DONE) && (redelivered || isLongAgo(state)));
    } catch (RedisUnavailable e) {
      return true;
    }
  }

  private boolean isLongAgo(String millis) {
    return Math.abs(clock.millis() - Long.parseLong(millis)) > LONGEST_STEP.toMillis();
  }

  private static void tell(Runnable what) {
    try {
      what.run();
    } catch (RedisUnavailable e) {
      LOG.debug("event=fanout_step_not_told", e);
    }
  }
}
