package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.lane.LaneBatch.Item;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LaneBatchTest {
  private static final int MOST_ITEMS = 3;
  private static final int MOST_BYTES = 10;

  @Test
  void a_round_without_items_has_no_batches() {
    assertThat(batches()).isEmpty();
  }

  @Test
  void a_batch_ends_with_its_last_allowed_item() {
    assertThat(batches(item("a", "1"), item("a", "2"), item("a", "3"))).containsExactly("a[1,2,3]");
    assertThat(batches(item("a", "1"), item("a", "2"), item("a", "3"), item("a", "4")))
        .containsExactly("a[1,2,3]", "a[4]");
  }

  @Test
  void a_batch_ends_before_the_item_that_would_make_it_too_long() {
    assertThat(batches(item("a", "12345"), item("a", "67890"))).containsExactly("a[12345,67890]");
    assertThat(batches(item("a", "12345"), item("a", "678901")))
        .containsExactly("a[12345]", "a[678901]");
  }

  @Test
  void an_item_that_is_too_long_has_a_batch_of_its_own() {
    String tooLong = "12345678901";

    assertThat(batches(item("a", "1"), item("a", tooLong), item("a", "2"), item("a", "3")))
        .containsExactly("a[1]", "a[" + tooLong + "]", "a[2,3]");
    assertThat(batches(item("a", tooLong), item("a", tooLong))).hasSize(2);
  }

  @Test
  void each_queue_has_batches_of_its_own_and_the_full_ones_go_first() {
    assertThat(
            batches(item("b", "1"), item("a", "2"), item("a", "3"), item("b", "4"), item("a", "5")))
        .containsExactly("a[2,3,5]", "b[1,4]");
  }

  @Test
  void every_item_is_in_one_batch_of_its_queue_in_its_order() {
    var random = new SplittableRandom(1);
    for (int round = 0; round < 200; round++) {
      List<Item> items =
          IntStream.range(0, random.nextInt(40))
              .mapToObj(number ->
                  item(
                      random.nextBoolean() ? "a" : "b",
                      (number + "-").repeat(1 + random.nextInt(5))))
              .toList();

      var batches = List.copyOf(LaneBatch.of(items, MOST_ITEMS, MOST_BYTES));

      for (String queue : List.of("a", "b")) {
        assertThat(ofQueue(batches, queue))
            .containsExactlyElementsOf(
                items.stream().filter(item -> item.queue().equals(queue)).toList());
      }
      assertThat(batches)
          .allSatisfy(batch -> {
            assertThat(batch.items()).hasSizeBetween(1, MOST_ITEMS);
            assertThat(
                    batch.items().size() == 1
                        || batch.items().stream().mapToInt(item -> item.body().length).sum()
                            <= MOST_BYTES)
                .isTrue();
          });
    }
  }

  private static Stream<Item> ofQueue(List<LaneBatch> batches, String queue) {
    return batches.stream()
        .filter(batch -> batch.queue().equals(queue))
        .flatMap(batch -> batch.items().stream());
  }

  private static List<String> batches(Item... items) {
    return LaneBatch.of(List.of(items), MOST_ITEMS, MOST_BYTES).stream()
        .map(batch -> batch.queue() + new String(batch.body(), StandardCharsets.US_ASCII))
        .toList();
  }

  private static Item item(String queue, String body) {
    return new Item(
        queue,
        body.getBytes(StandardCharsets.US_ASCII),
        new LanePublisher.Confirmation() {
          @Override
          public void confirmed() {}

          @Override
          public void failed(BrokerUnavailable why) {}
        },
        0);
  }
}
