package io.pushplanet.cm.inbox;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionBuilder;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InboxDrainTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  private static final int PAGE = 5;

  private final MutableClock clock = MutableClock.started();
  private final HandLoop loop = new HandLoop();
  private final DrainedClient client = new DrainedClient(loop);
  private int acknowledged;
  private final FullEvents inbox = new FullEvents();
  private final DeviceSession session = aSession(DEVICE).at(client, SessionBuilder.shared(clock));
  private final InboxDrain drain = client.drain(inbox, session);

  @Test
  void while_no_outcome_can_be_told_each_message_is_sent_once_and_its_outcome_tried_again() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    acknowledgeAll();
    loop.nowNanos += TimeUnit.SECONDS.toNanos(1);
    drain.swept(loop.nowNanos);
    drain.wanted();
    acknowledgeAll();
    assertThat(inbox.reads).isEqualTo(1);

    loop.nowNanos += TimeUnit.SECONDS.toNanos(2);
    drain.swept(loop.nowNanos);
    acknowledgeAll();

    assertThat(inbox.reads).isEqualTo(1);
    assertThat(inbox.tries).isEqualTo(2 * PAGE);
    assertThat(client.sent).hasSize(PAGE);
    assertThat(drain.isIdle()).isFalse();

    inbox.isFull = false;
    loop.nowNanos += TimeUnit.SECONDS.toNanos(3);
    drain.swept(loop.nowNanos);
    loop.turn();

    assertThat(inbox.tries).isEqualTo(3 * PAGE);
    assertThat(inbox.reads).as("the next page").isEqualTo(2);
  }

  @Test
  void the_end_of_an_expired_row_is_not_retried_at_once() {
    inbox.fate = InboxRow.Fate.EXPIRED;
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    loop.turn();

    assertThat(inbox.reads).isEqualTo(1);
    assertThat(client.sent).isEmpty();
  }

  @Test
  void the_time_from_reading_an_inbox_to_sending_each_message_is_told() {
    inbox.reading = loop::execute;

    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    loop.nowNanos += TimeUnit.MILLISECONDS.toNanos(30);
    loop.turn();

    assertThat(client.sent).hasSize(PAGE);
    assertThat(inbox.writtenNanos).hasSize(PAGE).containsOnly(TimeUnit.MILLISECONDS.toNanos(30));
  }

  private void acknowledgeAll() {
    while (acknowledged < client.sent.size()) {
      session.acknowledged(client.packetIds().get(acknowledged++), ReasonCode.SUCCESS);
      loop.turn();
    }
    loop.turn();
  }

  /// While too many events wait for the broker no end can be told, and the rows stay.
  private static final class FullEvents implements ParkedMessages {
    /// Limits the loop of a failing test.
    private static final int ENOUGH = 10;

    private InboxRow.Fate fate = InboxRow.Fate.DUE;
    private boolean isFull = true;
    private int reads;
    private int tries;
    private final List<Long> writtenNanos = new ArrayList<>();
    private Consumer<Runnable> reading = Runnable::run;

    @Override
    public void read(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
      if (reads++ < ENOUGH) {
        reading.accept(() -> then.accept(new InboxPage.Rows(rows(), true)));
      }
    }

    private List<InboxRow> rows() {
      return IntStream.range(0, PAGE)
          .mapToObj(number ->
              new InboxRow(
                      DEVICE,
                      "slot-" + number,
                      new MessageId("0190b8a0-0000-7000-8000-00000000000" + number),
                      Binary.of("{}"),
                      Long.MAX_VALUE)
                  .with(fate))
          .toList();
    }

    @Override
    public void written(long tookNanos) {
      writtenNanos.add(tookNanos);
    }

    @Override
    public void delivered(InboxRow row, @Nullable Instant lateAt, Then then) {
      tries++;
      then.done(!isFull);
    }

    @Override
    public void failed(InboxRow row, Settlement.Refused why, Then then) {
      then.done(false);
    }

    @Override
    public void over(InboxRow row, Then then) {
      then.done(false);
    }
  }
}
