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

class WaitQueueTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ReentrantLock lock = new ReentrantLock();
  private final WaitQueue queue = new WaitQueue(lock);

  /// A thread that waits, and the result.
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
                  answer.complete(queue.await());
                } catch (InterruptedException e) {
                  answer.completeExceptionally(e);
                } finally {
                  lock.unlock();
                  interrupted.complete(Thread.currentThread().isInterrupted());
                }
              });
      Eventually.within(PATIENCE, () -> assertThat(length()).isEqualTo(before + 1));
    }

    boolean admitted() throws Exception {
      return answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private int length() {
    lock.lock();
    try {
      return queue.length();
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
  void the_first_waiter_is_admitted_first() throws Exception {
    List<String> in = new CopyOnWriteArrayList<>();
    Waiter first = new Waiter();
    Waiter second = new Waiter();
    first.answer.thenRun(() -> in.add("first"));
    second.answer.thenRun(() -> in.add("second"));

    locked(queue::admitFirst);
    assertThat(first.admitted()).isTrue();
    assertThat(second.answer).isNotDone();
    locked(queue::admitFirst);

    assertThat(second.admitted()).isTrue();
    Eventually.within(PATIENCE, () -> assertThat(in).containsExactly("first", "second"));
    assertThat(queue.isEmpty()).isTrue();
  }

  @Test
  void refused_waiters_get_no_room() throws Exception {
    Waiter first = new Waiter();
    Waiter second = new Waiter();

    locked(queue::refuseAll);

    assertThat(first.admitted()).isFalse();
    assertThat(second.admitted()).isFalse();
    assertThat(queue.isEmpty()).isTrue();
  }

  @Test
  void a_waiter_without_room_in_time_leaves_the_queue() throws Exception {
    lock.lock();
    try {
      assertThat(queue.await(Duration.ofMillis(1))).isFalse();
      assertThat(queue.await(Duration.ZERO)).isFalse();
      assertThat(queue.isEmpty()).isTrue();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void a_waiter_interrupted_before_there_is_room_leaves_the_queue_to_the_next() throws Exception {
    Waiter first = new Waiter();
    Waiter second = new Waiter();

    first.thread.interrupt();
    Eventually.within(PATIENCE, () -> assertThat(first.answer).isCompletedExceptionally());
    locked(queue::admitFirst);

    assertThat(second.admitted()).isTrue();
  }

  @Test
  void a_waiter_interrupted_when_it_is_admitted_has_room_and_stays_interrupted() throws Exception {
    Waiter waiter = new Waiter();

    locked(() -> {
      queue.admitFirst();
      waiter.thread.interrupt();
    });

    assertThat(waiter.admitted()).isTrue();
    assertThat(waiter.interrupted.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void an_empty_queue_admits_no_thread() {
    locked(() -> assertThatThrownBy(queue::admitFirst).isInstanceOf(NoSuchElementException.class));
  }
}
