package io.pushplanet.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RequestBatcherTest {
  private final List<List<String>> sent = new ArrayList<>();
  private final List<CompletableFuture<Void>> ends = new ArrayList<>();
  private final RequestBatcher<String> batcher = new RequestBatcher<>(3, 2, 1, this::send);

  private CompletableFuture<Void> send(List<String> batch) {
    sent.add(List.copyOf(batch));
    CompletableFuture<Void> end = new CompletableFuture<>();
    ends.add(end);
    return end;
  }

  @Test
  void the_first_request_leaves_at_once() {
    batcher.add("a");

    assertThat(sent).containsExactly(List.of("a"));
  }

  @Test
  void requests_that_come_during_a_batch_leave_together_in_the_next() {
    batcher.add("a");
    batcher.add("b");
    batcher.add("c");
    assertThat(sent).containsExactly(List.of("a"));

    ends.getFirst().complete(null);

    assertThat(sent).containsExactly(List.of("a"), List.of("b", "c"));
  }

  @Test
  void a_batch_has_its_limit_and_the_next_follows_a_failed_one() {
    batcher.add("a");
    List.of("b", "c", "d").forEach(batcher::add);

    ends.get(0).completeExceptionally(new IllegalStateException("lost"));
    ends.get(1).complete(null);

    assertThat(sent).containsExactly(List.of("a"), List.of("b", "c"), List.of("d"));
  }

  @Test
  void a_request_past_the_limit_is_refused() {
    batcher.add("a");
    List.of("b", "c", "d").forEach(batcher::add);

    assertThat(batcher.add("e")).isFalse();
    assertThat(batcher.withdrawAll()).containsExactly("b", "c", "d");
  }

  @Test
  void as_many_batches_as_allowed_are_in_flight_at_a_time() {
    RequestBatcher<String> two = new RequestBatcher<>(3, 2, 2, this::send);

    List.of("a", "b", "c", "d").forEach(two::add);
    assertThat(sent).containsExactly(List.of("a"), List.of("b"));
    ends.getFirst().complete(null);

    assertThat(sent).containsExactly(List.of("a"), List.of("b"), List.of("c", "d"));
  }

  @Test
  void a_batch_that_ends_at_once_does_not_stop_the_others() {
    RequestBatcher<String> quick =
        new RequestBatcher<>(
            3,
            2,
            1,
            batch -> {
              sent.add(List.copyOf(batch));
              return CompletableFuture.completedFuture(null);
            });

    List.of("a", "b", "c", "d", "e").forEach(quick::add);

    assertThat(sent.stream().flatMap(List::stream)).containsExactly("a", "b", "c", "d", "e");
  }

  @Test
  void the_next_batch_follows_one_that_throws() {
    RequestBatcher<String> breaking =
        new RequestBatcher<>(
            3,
            2,
            1,
            batch -> {
              sent.add(List.copyOf(batch));
              throw new NoClassDefFoundError("for the test");
            });

    breaking.add("a");
    breaking.add("b");

    assertThat(sent).containsExactly(List.of("a"), List.of("b"));
  }
}
