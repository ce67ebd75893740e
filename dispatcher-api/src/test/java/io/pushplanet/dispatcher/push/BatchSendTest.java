package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.MessageId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchSendTest {
  @Test
  void a_repeated_batch_repeats_its_ids_and_no_two_are_alike() {
    MessageId seed = new MessageId("0192e0f0-1234-7000-8000-000000000001");

    MessageId first = BatchSend.messageId(seed, 0);

    assertThat(BatchSend.messageId(seed, 0)).isEqualTo(first);
    assertThat(BatchSend.messageId(seed, 1)).isNotEqualTo(first);
    assertThat(first.time()).isEqualTo(seed.time());
  }

  @Test
  void ids_of_a_batch_sort_in_its_order_late_in_a_millisecond_too() {
    MessageId seed = new MessageId("0192e0f0-1234-7fff-8000-000000000001");

    List<MessageId> ids =
        IntStream.range(0, BatchSend.MAX).mapToObj(i -> BatchSend.messageId(seed, i)).toList();

    assertThat(ids).isSorted().doesNotHaveDuplicates();
    assertThat(ids.getLast().time()).isEqualTo(seed.time().plusMillis(1));
  }
}
