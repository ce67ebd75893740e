package io.pushplanet.common.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RoundsTest {
  private final List<List<String>> sent = new ArrayList<>();
  private final List<CompletableFuture<Void>> ends = new ArrayList<>();
  private final Rounds<String> rounds = new Rounds<>(3, 2, 1, this::send);

  private CompletableFuture<Void> send(List<String> together) {
    sent.add(List.copyOf(together));
    CompletableFuture<Void> end = new CompletableFuture<>();
    ends.add(end);
    return end;
  }

  @Test
  void the_first_waits_for_nobody() {
    rounds.add("a");

    assertThat(sent).containsExactly(List.of("a"));
  }

  @Test
  void what_comes_during_a_round_goes_together_in_the_next() {
    rounds.add("a");
    rounds.add("b");
    rounds.add("c");
    assertThat(sent).containsExactly(List.of("a"));

    ends.getFirst().complete(null);

    assertThat(sent).containsExactly(List.of("a"), List.of("b", "c"));
  }

  @Test
  void a_round_has_its_limit_and_a_failed_one_is_followed_by_the_next() {
    rounds.add("a");
    List.of("b", "c", "d").forEach(rounds::add);

    ends.get(0).completeExceptionally(new IllegalStateException("lost"));
    ends.get(1).complete(null);

    assertThat(sent).containsExactly(List.of("a"), List.of("b", "c"), List.of("d"));
  }

  @Test
  void more_than_may_wait_is_refused() {
    rounds.add("a");
    List.of("b", "c", "d").forEach(rounds::add);

    assertThat(rounds.add("e")).isFalse();
    assertThat(rounds.withdrawAll()).containsExactly("b", "c", "d");
  }

  @Test
  void as_many_rounds_as_may_be_are_under_way_at_a_time() {
    Rounds<String> two = new Rounds<>(3, 2, 2, this::send);

    List.of("a", "b", "c", "d").forEach(two::add);
    assertThat(sent).containsExactly(List.of("a"), List.of("b"));
    ends.getFirst().complete(null);

    assertThat(sent).containsExactly(List.of("a"), List.of("b"), List.of("c", "d"));
  }

  @Test
  void a_round_that_ends_at_once_does_not_stop_the_others() {
    Rounds<String> quick =
        new Rounds<>(
            3,
            2,
            1,
            together -> {
              sent.add(List.copyOf(together));
              return CompletableFuture.completedFuture(null);
            });

    List.of("a", "b", "c", "d", "e").forEach(quick::add);

    assertThat(sent.stream().flatMap(List::stream)).containsExactly("a", "b", "c", "d", "e");
  }

  @Test
  void a_round_that_breaks_leaves_its_place_to_the_next() {
    Rounds<String> breaking =
        new Rounds<>(
            3,
            2,
            1,
            together -> {
              sent.add(List.copyOf(together));
              throw new NoClassDefFoundError("for the test");
            });

    breaking.add("a");
    breaking.add("b");

    assertThat(sent).containsExactly(List.of("a"), List.of("b"));
  }
}
