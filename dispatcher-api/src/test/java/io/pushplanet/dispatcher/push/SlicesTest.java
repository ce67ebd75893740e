package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.dispatcher.lane.QueueItem;
import io.pushplanet.dispatcher.push.PushDispatch.Prepared;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SlicesTest {
  private static final int MEGABYTE = 1024 * 1024;

  private final List<List<Prepared>> published = new ArrayList<>();
  private final AtomicInteger signs = new AtomicInteger();
  private final Slices slices = new Slices(published::add, signs::incrementAndGet);

  private static Prepared message(int bytes) {
    QueueItem acceptedEvent = new QueueItem("push.accepted", new byte[bytes / 2]);
    QueueItem item = new QueueItem("push.fcm.normal", new byte[bytes - bytes / 2]);
    Receipt receipt =
        Receipt.accepted(new MessageId("0192e0f0-1234-7000-8000-000000000001"), Instant.EPOCH, 1);
    return new Prepared(
        receipt, Priority.NORMAL, List.of(item, acceptedEvent), acceptedEvent, List.of());
  }

  @Test
  void a_usual_batch_is_published_at_once() {
    for (int i = 0; i < 100; i++) {
      slices.add(message(2_000));
    }
    assertThat(published).isEmpty();

    slices.end();

    assertThat(published).extracting(List::size).containsExactly(100);
    assertThat(slices.count()).isEqualTo(100);
  }

  @Test
  void a_slice_is_published_before_more_messages_are_prepared() {
    for (int i = 0; i < 9; i++) {
      slices.add(message(MEGABYTE / 4));
    }
    assertThat(published).extracting(List::size).containsExactly(4, 4);

    slices.end();

    assertThat(published).extracting(List::size).containsExactly(4, 4, 1);
    assertThat(slices.count()).isEqualTo(9);
  }

  /// Each may take as long as the broker takes for its confirms.
  @Test
  void the_request_goes_on_before_and_after_each_slice() {
    Slices slow =
        new Slices(
            some -> {
              assertThat(signs.get() % 2).isOne();
              published.add(some);
            },
            signs::incrementAndGet);

    for (int i = 0; i < 5; i++) {
      slow.add(message(MEGABYTE / 4));
    }
    slow.end();

    assertThat(published).hasSize(2);
    assertThat(signs).hasValue(4);
  }

  @Test
  void an_empty_batch_publishes_nothing() {
    slices.end();

    assertThat(published).isEmpty();
  }
}
