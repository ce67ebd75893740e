package io.pushplanet.gateway.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class LineTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ReentrantLock lock = new ReentrantLock();
  private final Line line = new Line(lock);

  /// One who waits, and what came of it.
  private final class Waiter {
    final CompletableFuture<Boolean> answer = new CompletableFuture<>();
    final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    final Thread thread;

    Waiter() {
      int before = length();
      thread =
          Thread.ofVirtual()
              .start(() -> {
                lock.lock();
                try {
                  answer.complete(line.await());
                } catch (InterruptedException e) {
                  answer.completeExceptionally(e);
                } finally {
                  lock.unlock();
                  interrupted.complete(Thread.currentThread().isInterrupted());
                }
              });
      Eventually.within(PATIENCE, () -> assertThat(length()).isEqualTo(before + 1));
    }

    boolean isIn() throws Exception {
      return answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private int length() {
    lock.lock();
    try {
      return line.length();
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable step) {
    lock.lock();
    try {
      step.run();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void who_came_first_is_let_in_first() throws Exception {
    List<String> in = new CopyOnWriteArrayList<>();
    Waiter first = new Waiter();
    Waiter second = new Waiter();
    first.answer.thenRun(() -> in.add("first"));
    second.answer.thenRun(() -> in.add("second"));

    locked(line::letFirstIn);
    assertThat(first.isIn()).isTrue();
    assertThat(second.answer).isNotDone();
    locked(line::letFirstIn);

    assertThat(second.isIn()).isTrue();
    Eventually.within(PATIENCE, () -> assertThat(in).containsExactly("first", "second"));
    assertThat(line.isEmpty()).isTrue();
  }

  @Test
  void all_who_are_sent_away_got_no_room() throws Exception {
    Waiter first = new Waiter();
    Waiter second = new Waiter();

    locked(line::sendAllAway);

    assertThat(first.isIn()).isFalse();
    assertThat(second.isIn()).isFalse();
    assertThat(line.isEmpty()).isTrue();
  }

  @Test
  void who_got_no_room_in_time_leaves_the_line() throws Exception {
    lock.lock();
    try {
      assertThat(line.await(Duration.ofMillis(1))).isFalse();
      assertThat(line.await(Duration.ZERO)).isFalse();
      assertThat(line.isEmpty()).isTrue();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void who_is_interrupted_before_there_is_room_leaves_the_line_to_those_behind() throws Exception {
    Waiter first = new Waiter();
    Waiter second = new Waiter();

    first.thread.interrupt();
    Eventually.within(PATIENCE, () -> assertThat(first.answer).isCompletedExceptionally());
    locked(line::letFirstIn);

    assertThat(second.isIn()).isTrue();
  }

  @Test
  void who_is_interrupted_when_there_is_room_has_it_and_stays_interrupted() throws Exception {
    Waiter waiter = new Waiter();

    locked(() -> {
      line.letFirstIn();
      waiter.thread.interrupt();
    });

    assertThat(waiter.isIn()).isTrue();
    assertThat(waiter.interrupted.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void nobody_is_let_in_where_nobody_waits() {
    locked(() -> assertThatThrownBy(line::letFirstIn).isInstanceOf(NoSuchElementException.class));
  }
}
