package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// How an app that holds many permits leaves others to other apps.
class PermitsIT extends DeliveryScene {
  private static final DeliveryOptions HIGH =
      new DeliveryOptions(
          Route.VENDOR, Duration.ofHours(1), Urgency.HIGH, null, Duration.ofSeconds(5));

  /// Holds up one app, by FCM's answers or by its pace, and no other.
  private static final class FcmForTests implements Provider {
    final CountDownLatch goesOn = new CountDownLatch(1);
    final Queue<String> sent = new ConcurrentLinkedQueue<>();
    private final boolean before;

    /// @param before whether the app is held up before its messages have a permit
    FcmForTests(boolean before) {
      this.before = before;
    }

    @Override
    public Channel channel() {
      return Channel.FCM;
    }

    @Override
    public Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
      if (before) {
        holdUp(push);
      }
      return Optional.empty();
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      try {
        if (!before) {
          holdUp(push);
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      sent.add(recipient.device().value());
      return new DeliveryOutcome.Accepted(200, "", null);
    }

    private void holdUp(Push push) throws InterruptedException {
      if (push.app().value().equals("held-up") && !goesOn.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("never released");
      }
    }
  }

  private byte[] manyOfTheHeldUpApp() {
    PushBuilder many = aPush(clock).from("held-up").delivered(HIGH);
    for (int i = 0; i < 300; i++) {
      many.toFcm("held-" + i, "token-" + i);
    }
    return batch(many.build());
  }

  @Test
  void a_high_message_does_not_wait_for_another_app_that_waits_for_its_turn() throws Exception {
    FcmForTests held = new FcmForTests(true);
    DeliveryForTests worker = delivery(held);
    byte[] broadcast = manyOfTheHeldUpApp();
    Thread heldUp =
        Thread.ofVirtual()
            .start(() -> worker.deliver(Channel.FCM, broadcast, false, Ticket.ofNoOrder()));

    try {
      worker.deliver(
          Channel.FCM,
          batch(aPush(clock).from("other").delivered(HIGH).toFcm("d1", "t1").build()),
          false,
          Ticket.ofNoOrder());

      assertThat(held.sent).containsExactly("d1");
    } finally {
      held.goesOn.countDown();
    }
    assertThat(heldUp.join(Duration.ofSeconds(60))).isTrue();
    assertThat(held.sent).hasSize(301);
  }

  @Test
  void an_app_whose_provider_hangs_leaves_permits_to_others() throws Exception {
    FcmForTests held = new FcmForTests(false);
    DeliveryForTests worker = delivery(held);
    byte[] broadcast = manyOfTheHeldUpApp();
    Thread heldUp =
        Thread.ofVirtual()
            .start(() -> worker.deliver(Channel.FCM, broadcast, false, Ticket.ofNoOrder()));

    try {
      for (int i = 0; i < 20; i++) {
        worker.deliver(
            Channel.FCM,
            batch(aPush(clock).from("other").delivered(HIGH).toFcm("d" + i, "t" + i).build()),
            false,
            Ticket.ofNoOrder());
      }

      assertThat(held.sent).hasSize(20);
      // The app gets at most 52 of 64 permits; the rest of its 300 messages do not wait in the
      // lane.
      Eventually.within(
          Duration.ofSeconds(30),
          () -> {
            worker.refuseStuck();
            assertThat(
                    servers
                        .sql()
                        .queryForObject(
                            "SELECT COUNT(*) FROM later WHERE app_id = 'held-up' AND reason = 'provider_slow'",
                            Integer.class))
                .isGreaterThanOrEqualTo(300 - 52);
          });
    } finally {
      held.goesOn.countDown();
    }
    assertThat(heldUp.join(Duration.ofSeconds(60))).isTrue();
  }

  /// firebase/firebase-admin-java#994: tens of thousands of tokens are as many threads there.
  @Test
  void firebase_admin_java_994_2000_devices_are_no_more_requests_than_places_and_no_threads()
      throws Exception {
    int threadsBefore = Thread.getAllStackTraces().size();
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Queue<Thread> senders = new ConcurrentLinkedQueue<>();
    CountDownLatch full = new CountDownLatch(50);
    Provider counting =
        new Provider() {
          @Override
          public Channel channel() {
            return Channel.FCM;
          }

          @Override
          public DeliveryOutcome send(Push push, Recipient recipient) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            senders.add(Thread.currentThread());
            full.countDown();
            try {
              // The first ones wait for each other, so that many are under way at once.
              if (!full.await(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("never so many at once");
              }
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            } finally {
              now.decrementAndGet();
            }
            return new DeliveryOutcome.Accepted(200, "", null);
          }
        };
    PushBuilder many = aPush(clock).from(APP).delivered(HIGH);
    for (int i = 0; i < 2_000; i++) {
      many.toFcm("many-" + i, "token-" + i);
    }

    delivery(counting).deliver(Channel.FCM, batch(many.build()), false, Ticket.ofNoOrder());

    assertThat(senders).hasSize(2_000).allMatch(Thread::isVirtual);
    assertThat(most).hasValueBetween(50, 64);
    assertThat(Thread.getAllStackTraces().size() - threadsBefore).isLessThan(50);
  }

  /// Answers no request: it gives some up after a while, and the others when it is released.
  private static final class SilentFcm implements Provider {
    final CountDownLatch givesUp = new CountDownLatch(1);
    final AtomicInteger underWay = new AtomicInteger();

    @Override
    public Channel channel() {
      return Channel.FCM;
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      underWay.incrementAndGet();
      try {
        boolean soon = recipient.device().value().startsWith("soon");
        var _ = givesUp.await(soon ? 2_500 : 60_000, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        underWay.decrementAndGet();
      }
      return new DeliveryOutcome.TryAgain(0, "timeout", null, true);
    }
  }

  @Test
  void an_app_whose_requests_time_out_gets_an_eighth_of_the_permits() throws Exception {
    SilentFcm silent = new SilentFcm();
    DeliveryForTests worker = delivery(silent);
    List<Thread> sends = new ArrayList<>(deliverEach(worker, "held", 1));
    try {
      for (Thread soon : deliverEach(worker, "soon", 20)) {
        soon.join();
      }

      sends.addAll(deliverEach(worker, "more", 30));

      // It gets 8 of 64 permits, and holds one of these already.
      Eventually.within(
          Duration.ofSeconds(30),
          () ->
              assertThat(
                      servers
                          .sql()
                          .queryForObject(
                              "SELECT COUNT(*) FROM later WHERE reason = 'provider_slow'",
                              Integer.class))
                  .isEqualTo(30 - 7));
      assertThat(silent.underWay).hasValue(8);
    } finally {
      silent.givesUp.countDown();
    }
    for (Thread send : sends) {
      send.join();
    }
  }

  /// Each message in a batch of its own.
  private List<Thread> deliverEach(DeliveryForTests worker, String devices, int many) {
    return IntStream.range(0, many)
        .mapToObj(i -> batch(aPush(clock).delivered(HIGH).toFcm(devices + i, "token").build()))
        .map(one ->
            Thread.ofVirtual()
                .start(() -> worker.deliver(Channel.FCM, one, false, Ticket.ofNoOrder())))
        .toList();
  }
}
