package io.pushplanet.gateway.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.lane.FairPermits.Response;
import io.pushplanet.gateway.lane.Lanes.Lane;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LaneTest {
  private static final AppId SHOP = new AppId("shop");

  private final AtomicLong nanos = new AtomicLong();

  /// Otherwise four requests of a slow app's sixteen devices each looked like a lane that is full,
  /// and the requests behind them went back to `later`.
  @Test
  void devices_that_share_a_request_are_in_hand_as_one_request() throws Exception {
    Lane lane = new Lane(64, 16, new DatabasePermits(4), nanos::get);
    for (int i = 0; i < 4; i++) {
      assertThat(lane.permits().acquire(SHOP)).isTrue();
      long acquired = nanos.get();
      nanos.addAndGet(Duration.ofSeconds(8).toNanos());
      lane.returning().putOff(SHOP);
      lane.permits().release(SHOP, acquired, Response.ANSWERED);
    }

    for (int request = 1; request <= 12; request++) {
      lane.take(16);

      assertThat(lane.permits().acquire(SHOP)).as("request %d", request).isTrue();
    }
  }
}
