package io.pushplanet.dispatcher.debt;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.LogLines;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RedisDebtsTest {
  private static final RedisUnavailable AWAY = new RedisUnavailable("Redis refused: NOPERM", null);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<DeviceKey> told = new ArrayList<>();
  private @Nullable RuntimeException refusal;
  private @Nullable Error failure;
  private final RedisDebts debts = new RedisDebts("sessions", 2, this::tell, meters);

  @Test
  void debts_are_gauged_and_logged_at_their_begin_and_end() {
    try (var log = new LogLines(RedisDebts.class)) {
      debts.pay();
      debts.owe(devices(0, 3), AWAY);
      refusal = AWAY;
      debts.pay();
      debts.owe(devices(3, 5), AWAY);
      debts.pay();
      assertThat(owed()).isEqualTo(5);
      assertThat(log.said())
          .containsExactly("event=redis_owed what=sessions reason=\"Redis refused: NOPERM\"");

      refusal = null;
      debts.pay();
      debts.pay();

      assertThat(owed()).isZero();
      assertThat(told).containsExactlyInAnyOrderElementsOf(devices(0, 5));
      assertThat(log.said())
          .hasSize(2)
          .last()
          .isEqualTo("event=redis_owed_no_more what=sessions devices=5");
    }
  }

  @Test
  void an_error_during_a_payment_keeps_the_debts() {
    debts.owe(devices(0, 3), AWAY);
    failure = new StackOverflowError();
    debts.pay();
    assertThat(owed()).isEqualTo(3);

    failure = null;
    debts.pay();

    assertThat(told).containsExactlyInAnyOrderElementsOf(devices(0, 3));
  }

  private double owed() {
    return meters.get("pushplanet.redis.owed").tag("what", "sessions").gauge().value();
  }

  private void tell(List<DeviceKey> devices) {
    if (failure != null) {
      throw failure;
    }
    if (refusal != null) {
      throw refusal;
    }
    told.addAll(devices);
  }

  private static Set<DeviceKey> devices(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(n -> new DeviceKey(new AppId("shop"), new DeviceId("d" + n)))
        .collect(Collectors.toSet());
  }
}
