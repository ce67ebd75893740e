package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.message.target.WebPushSubscription;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.LanePublisher;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.intake.DeadItems;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.retry.RetrySchedule;
import io.pushplanet.gateway.token.Tokens;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/// The worker's story. A lane hands it a batch; every message for every device in it is a parcel of its own:
///
/// 1. too old? it expires; seen or cancelled before? it is left out;
/// 2. it goes to the device's node, or to the vendor;
/// 3. the answer becomes an outcome: it ended, waits for another try, takes another channel, or is parked until the device
///    connects;
/// 4. that leaves as it comes, and only when all of it is durable and told does the lane acknowledge.
///
/// A parcel that fails never takes its neighbours along. Thread-safe; calls block.
public final class Delivery {
  private static final Logger LOG = LoggerFactory.getLogger(Delivery.class);

  /// While a batch waits for its slower parcels, what came of the others leaves so often. Neighbours that are as fast as each
  /// other travel together: the broker's messages are what limits us.
  private static final Duration TOLD_EVERY = Duration.ofMillis(50);

  /// Of what has come of parcels and the broker has not confirmed yet; half of what a lane lets wait. A lane hands out some
  /// 4,000 recipients of a broadcast in one message, and many of those at once.
  private static final int MOST_UNCONFIRMED = LanePublisher.Settings.DEFAULT.mostWaiting() / 2;

  /// The app's places in the lane are taken by requests that nobody answers.
  private static final Duration SLOW_PROVIDER_PAUSE = Duration.ofSeconds(5);

  /// Of one lane's batches as many ask MySQL or write to it at once: half of what a worker has connections. Those behind them wait
  /// here for as long as it takes, not for a connection, which fails after seconds.
  private static final int MOST_AT_THE_DATABASE = 5;

  /// Recipients in hand of a lane without a provider. A node is handed few frames at a time, and who waits for that for too long is
  /// sent elsewhere.
  private static final int MOST_OVER_MQTT = 1_024;

  /// Nothing takes a processor from a virtual thread, and the next in line may carry what is `high`.
  private static final int MOST_WITHOUT_A_BREAK = 50;

  private static final String NOT_SENT = "not sent";

  /// What waits for long is tried once more so long before its time to live ends.
  private static final Duration LAST_TRY = Duration.ofSeconds(2);

  private final int mostErrors;
  private final Semaphore room = new Semaphore(MOST_UNCONFIRMED);
  private final Map<Channel, Provider> providers = new EnumMap<>(Channel.class);
  private final Map<String, Lane> held = new HashMap<>();
  private final NodeDelivery nodes;
  private final SettledBefore settledBefore;
  private final InboxStore inbox;
  private final LaterStore later;
  private final LanePublisher lanes;
  private final Tokens tokens;
  private final RetrySchedule retries;
  private final Clock clock;
  private final DeliveryMetrics metrics;

  /// What one lane may hold, and holds.
  private static final class Lane {
    final int most;
    final Places places;

    /// Of the batches in hand, also those that have been answered.
    final AtomicInteger recipients = new AtomicInteger();

    final Semaphore atDatabase = new Semaphore(MOST_AT_THE_DATABASE);

    Lane(int most) {
      this.most = most;
      this.places = new Places(most, System::nanoTime);
    }
  }

  /// @param mostInFlight requests of a lane without an answer, where its provider's connections carry as many
  Delivery(
      List<Provider> providers,
      int mostInFlight,
      int mostErrors,
      NodeDelivery nodes,
      SettledBefore settledBefore,
      InboxStore inbox,
      LaterStore later,
      LanePublisher lanes,
      Tokens tokens,
      RetrySchedule retries,
      Clock clock,
      DeliveryMetrics metrics) {
    providers.forEach(provider -> this.providers.put(provider.channel(), provider));
    for (Channel channel : Channel.values()) {
      Provider provider = this.providers.get(channel);
      int most = Math.min(mostInFlight, provider == null ? MOST_OVER_MQTT : provider.mostAtOnce());
      for (Priority priority : Priority.values()) {
        // Bounds of its own for each lane, so that high never waits behind normal.
        Lane lane = new Lane(most);
        held.put(Topology.lane(channel, priority), lane);
        if (provider != null) {
          metrics.inFlight(Topology.lane(channel, priority), lane.places::taken);
        }
      }
    }
    this.mostErrors = mostErrors;
    this.nodes = nodes;
    this.settledBefore = settledBefore;
    this.inbox = inbox;
    this.later = later;
    this.lanes = lanes;
    this.tokens = tokens;
    this.retries = retries;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// Delivers a batch of a channel's lane; acknowledge it afterwards.
  ///
  /// @param body a batch of [Push] in wire form
  /// @param redelivered whether the broker handed it out before
  /// @throws DeadItems when some of it can never be handled and all else is durable
  /// @throws io.pushplanet.common.wire.MalformedWire when it is none
  /// @throws RuntimeException when something could not be made durable: hand the batch out again
  public void deliver(Channel channel, byte[] body, boolean redelivered) {
    List<DeadItem> dead = new ArrayList<>();
    List<Parcel> taken =
        takenUp(channel, WireForm.readBatch(body, Push.class, dead::add), redelivered);
    if (!taken.isEmpty()) {
      dead.addAll(deliver(channel, taken));
    }
    DeadItems.throwIfAny(dead);
  }

  /// @return what is buried
  private List<DeadItem> deliver(Channel channel, List<Parcel> taken) {
    Lane lane = lane(channel, taken.getFirst().push().delivery().priority());
    lane.recipients.addAndGet(taken.size());
    try {
      Outbox outbox =
          new Outbox(inbox, later, lanes, room, lane.atDatabase, retries, clock, metrics);
      List<Parcel> parcels = due(taken, lane, outbox);
      if (channel == Channel.MQTT) {
        overMqtt(parcels, outbox);
      } else {
        overProvider(channel, parcels, outbox);
      }
      outbox.settle();
      return outbox.buried();
    } finally {
      lane.recipients.addAndGet(-taken.size());
    }
  }

  /// How many more recipients a lane has room for; negative when it has more in hand than it can send to at once.
  public int room(Channel channel, Priority priority) {
    Lane lane = lane(channel, priority);
    return lane.most - lane.recipients.get();
  }

  private Lane lane(Channel channel, Priority priority) {
    return Objects.requireNonNull(held.get(Topology.lane(channel, priority)));
  }

  /// Lets those go to `later` who wait in vain for a place; to be called several times a second.
  public void look() {
    held.values().forEach(lane -> lane.places.look());
  }

  private List<Parcel> takenUp(Channel channel, List<Push> pushes, boolean redelivered) {
    Instant now = clock.instant();
    List<Parcel> parcels = new ArrayList<>();
    for (Push push : pushes) {
      boolean repeat = redelivered || push.cameBack() || !push.tried().isEmpty();
      if (!repeat) {
        metrics.takenUp(channel, push, now);
      }
      if (redelivered) {
        metrics.redelivered(channel, push.recipients().size());
      }
      push.recipients().forEach(recipient -> parcels.add(new Parcel(push, recipient, repeat)));
    }
    return parcels;
  }

  private List<Parcel> due(List<Parcel> parcels, Lane lane, Outbox outbox) {
    List<Parcel> onFirstWay = new ArrayList<>();
    List<Parcel> repeats = new ArrayList<>();
    Map<MessageId, Boolean> stopped = new HashMap<>();
    for (Parcel parcel : parcels) {
      Push push = parcel.push();
      // Somebody who stops a broadcast has seen it go wrong: one look for very many devices.
      boolean cancelled =
          push.recipients().size() >= NodeDelivery.MANY
              && stopped.computeIfAbsent(push.id(), settledBefore::isCancelled);
      if (cancelled) {
        outbox.end(
            parcel,
            DeliveryState.CANCELLED,
            outbox.attempt(null, "cancelled", null, "cancelled", null, null));
        continue;
      }
      // A time to live of zero means "now or never": the first try is always made.
      boolean nowOrNever = push.delivery().ttl().isZero() && push.attempt() == 0;
      if (push.expiredAt(clock.instant()) && !nowOrNever) {
        outbox.end(
            parcel,
            DeliveryState.EXPIRED,
            outbox.attempt(null, "expired", null, "ttl", null, null));
      } else if (parcel.repeat()) {
        repeats.add(parcel);
      } else {
        onFirstWay.add(parcel);
      }
    }
    if (!repeats.isEmpty()) {
      lane.atDatabase.acquireUninterruptibly();
      try {
        onFirstWay.addAll(settledBefore.leaveOut(repeats));
      } finally {
        lane.atDatabase.release();
      }
    }
    return onFirstWay;
  }

  private void overMqtt(List<Parcel> parcels, Outbox outbox) {
    List<NodeDelivery.Request> requests =
        parcels.stream()
            .map(parcel -> new NodeDelivery.Request(parcel, vendorAfterMqtt(parcel).isPresent()))
            .toList();
    nodes.deliver(
        requests,
        answers -> {
          answers.forEach(answer -> handle(answer, outbox));
          // A device that connected meanwhile has looked into its inbox too early.
          nodes.drainConnected(outbox.keep()).forEach(outbox::lookAgain);
        });
  }

  private void handle(NodeDelivery.Answer answer, Outbox outbox) {
    Parcel parcel = answer.parcel();
    switch (answer.result()) {
      case DELIVERED -> {
        outbox.end(
            parcel,
            DeliveryState.DELIVERED,
            outbox.attempt(Channel.MQTT, "delivered", null, null, null, null));
        if (parcel.repeat()) {
          outbox.takeOut(parcel);
        }
      }
      case NOT_HERE, TIMEOUT, REFUSED -> notOverMqtt(parcel, answer, outbox);
    }
  }

  private void notOverMqtt(Parcel parcel, NodeDelivery.Answer answer, Outbox outbox) {
    Optional<Channel> vendor = vendorAfterMqtt(parcel);
    if (vendor.isPresent()) {
      Channel to = vendor.get();
      outbox.fallBack(
          parcel,
          Channel.MQTT,
          to,
          outbox.attempt(
              Channel.MQTT,
              "not_delivered",
              null,
              answer.reason(),
              null,
              "falls back to " + to.word()));
      return;
    }
    if (answer.result() == NodeOutcomes.Result.REFUSED && answer.reason().startsWith("too_")) {
      outbox.end(
          parcel,
          DeliveryState.FAILED,
          outbox.attempt(Channel.MQTT, "refused", null, answer.reason(), null, null));
      return;
    }
    if (answer.reason().equals(NodeDelivery.DIRECTORY_UNAVAILABLE)) {
      // It may be connected: parked now, it would wait for a connect that does not come.
      again(
          Channel.MQTT,
          parcel,
          parcel.alone().again(),
          retries.afterDirectoryLoss(),
          new Cause(0, answer.reason(), NOT_SENT),
          outbox);
      return;
    }
    if (parcel.push().delivery().ttl().isZero()) {
      outbox.end(
          parcel,
          DeliveryState.EXPIRED,
          outbox.attempt(
              Channel.MQTT, "expired", null, answer.reason(), null, "its ttl is now or never"));
      return;
    }
    outbox.park(
        parcel,
        outbox.attempt(
            Channel.MQTT,
            "parked",
            null,
            answer.reason(),
            null,
            "waits in the inbox until the device connects"));
  }

  private static Optional<Channel> vendorAfterMqtt(Parcel parcel) {
    return parcel.push().delivery().route() == Route.AUTO
        ? parcel.recipient().vendor(parcel.push().tried())
        : Optional.empty();
  }

  private void overProvider(Channel channel, List<Parcel> parcels, Outbox outbox) {
    Provider provider = providers.get(channel);
    if (provider == null) {
      for (Parcel parcel : parcels) {
        otherwise(
            channel,
            parcel,
            outbox.attempt(channel, "failed", null, "channel_not_available", null, null),
            outbox);
      }
      return;
    }
    List<List<Parcel>> requests = together(provider, parcels);
    if (requests.size() == 1) {
      // A single message: nothing can be told of it meanwhile.
      if (!putOff(provider, requests.getFirst(), outbox)) {
        sendAndHandle(provider, requests.getFirst(), outbox);
      }
      return;
    }
    try (ExecutorService sends = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> sent = new ArrayList<>();
      CountDownLatch open = new CountDownLatch(requests.size());
      int putOff = 0;
      for (List<Parcel> together : requests) {
        if (putOff(provider, together, outbox)) {
          open.countDown();
          if (++putOff % MOST_WITHOUT_A_BREAK == 0) {
            Thread.yield();
          }
          continue;
        }
        sent.add(
            sends.submit(() -> {
              try {
                sendAndHandle(provider, together, outbox);
              } finally {
                open.countDown();
              }
            }));
      }
      awaitAll(open, outbox);
      for (Future<?> one : sent) {
        one.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while sending", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(
          "a parcel could not be handled: " + e.getCause(), e.getCause());
    }
  }

  /// Meanwhile what came leaves.
  private static void awaitAll(CountDownLatch open, Outbox outbox) throws InterruptedException {
    try {
      while (!open.await(TOLD_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
        outbox.keep();
      }
    } catch (RuntimeException e) {
      // Those under way are not sent again for what others could not keep.
      open.await();
      throw e;
    }
  }

  private void sendAndHandle(Provider provider, List<Parcel> together, Outbox outbox) {
    List<DeliveryOutcome> outcomes = send(provider, together);
    for (int i = 0; i < together.size(); i++) {
      handle(provider.channel(), together.get(i), outcomes.get(i), outbox);
    }
  }

  /// @return whether it is not sent now
  private boolean putOff(Provider provider, List<Parcel> together, Outbox outbox) {
    Optional<DeliveryOutcome> later;
    try {
      later = provider.putOff(together.getFirst().push());
    } catch (RuntimeException e) {
      // Its turn meets the same, and tells of it.
      return false;
    }
    later.ifPresent(
        outcome -> together.forEach(parcel -> handle(provider.channel(), parcel, outcome, outbox)));
    return later.isPresent();
  }

  /// Parcels that the provider takes in one request: those of one message after as many attempts.
  private static List<List<Parcel>> together(Provider provider, List<Parcel> parcels) {
    Map<Push, List<Parcel>> open = new HashMap<>();
    List<List<Parcel>> requests = new ArrayList<>();
    for (Parcel parcel : parcels) {
      int most = provider.mostTogether(parcel.push());
      if (most == 1) {
        requests.add(List.of(parcel));
        continue;
      }
      Push message = parcel.push().to(List.of());
      List<Parcel> request = open.get(message);
      if (request == null || request.size() >= most) {
        request = new ArrayList<>();
        open.put(message, request);
        requests.add(request);
      }
      request.add(parcel);
    }
    return requests;
  }

  private List<DeliveryOutcome> send(Provider provider, List<Parcel> together) {
    List<Recipient> recipients = together.stream().map(Parcel::recipient).toList();
    Push push = together.getFirst().push().to(recipients);
    Places places = lane(provider.channel(), push.delivery().priority()).places;
    try {
      // Whoever waits for its turn takes no place from others.
      Optional<DeliveryOutcome> notNow = provider.turn(push);
      if (notNow.isPresent()) {
        return Collections.nCopies(recipients.size(), notNow.get());
      }
      if (!places.enter(push.app())) {
        return Collections.nCopies(
            recipients.size(), new DeliveryOutcome.PutOff(0, "provider_slow", SLOW_PROVIDER_PAUSE));
      }
      long enteredNanos = System.nanoTime();
      try {
        return provider.send(push, recipients);
      } finally {
        places.leave(push.app(), enteredNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Collections.nCopies(
          recipients.size(), new DeliveryOutcome.Deferred(0, "worker_stops", null, false));
    } catch (RuntimeException | Error e) {
      // A bug that one message meets must not send its neighbours a second time: only this one is
      // tried again, and not for ever.
      LOG.error(
          "event=send_failed channel={} messageId={} appId={}",
          provider.channel().word(),
          push.id(),
          push.app(),
          e);
      return Collections.nCopies(
          recipients.size(), new DeliveryOutcome.InternalError(e.toString()));
    }
  }

  private void handle(Channel channel, Parcel parcel, DeliveryOutcome outcome, Outbox outbox) {
    switch (outcome) {
      case DeliveryOutcome.Accepted(int status, String reason, String providerId) -> {
        tokens.accepted(parcel.push().app(), channel, environment(channel, parcel));
        outbox.end(
            parcel,
            DeliveryState.DELIVERED,
            outbox.attempt(channel, "delivered", status, null, providerId, null));
      }
      case DeliveryOutcome.Rejected(int status, String reason) -> {
        if (status > 0) {
          tokens.alive(parcel.push().app(), channel);
        }
        otherwise(
            channel,
            parcel,
            outbox.attempt(channel, "rejected", orNull(status), reason, null, "not repeated"),
            outbox);
      }
      case DeliveryOutcome.Expired expired ->
          outbox.end(
              parcel,
              DeliveryState.EXPIRED,
              outbox.attempt(channel, "expired", null, expired.reason(), null, "not sent"));
      case DeliveryOutcome.TokenGone(int status, String reason, Instant since) -> {
        String action = forget(channel, parcel, since, reason);
        otherwise(
            channel,
            parcel,
            outbox.attempt(channel, "rejected", orNull(status), reason, null, action),
            outbox);
      }
      case DeliveryOutcome.TokenForeign(int status, String reason) -> {
        String action = forget(channel, parcel, clock.instant(), reason);
        otherwise(
            channel,
            parcel,
            outbox.attempt(channel, "rejected", orNull(status), reason, null, action),
            outbox);
      }
      case DeliveryOutcome.PutOff putOff ->
          again(
              channel,
              parcel,
              parcel.alone().putOff(),
              retries.after(putOff),
              new Cause(putOff.status(), putOff.reason(), orNotSent(putOff, putOff.done())),
              outbox);
      case DeliveryOutcome.Deferred deferred ->
          again(
              channel,
              parcel,
              parcel.alone().again(),
              afterDeferral(channel, parcel, deferred),
              new Cause(
                  deferred.status(),
                  deferred.reason(),
                  deferred.ambiguous() ? deferred.done() : orNotSent(deferred, deferred.done())),
              outbox);
      case DeliveryOutcome.InternalError error -> afterError(channel, parcel, error, outbox);
      case DeliveryOutcome.CredentialFault fault ->
          again(
              channel,
              parcel,
              parcel.alone().again(),
              beforeItsEnd(parcel, retries.afterCredentialFault(parcel.push().attempt())),
              new Cause(fault.status(), fault.reason(), orNotSent(fault, fault.done())),
              outbox);
      case DeliveryOutcome.Remedied remedied -> {
        outbox.tell(
            parcel,
            outbox.attempt(
                channel,
                "repeated",
                remedied.status(),
                remedied.reason(),
                null,
                remedied.remedy()));
        handle(channel, parcel, remedied.then(), outbox);
      }
    }
  }

  private void afterError(
      Channel channel, Parcel parcel, DeliveryOutcome.InternalError error, Outbox outbox) {
    int before = parcel.push().timesTrippedOver();
    if (before + 1 < mostErrors) {
      again(
          channel,
          parcel,
          parcel.alone().afterError(),
          retries.afterInternalError(before),
          new Cause(error.status(), error.reason(), null),
          outbox);
      return;
    }
    outbox.bury(
        parcel,
        outbox.attempt(
            channel,
            "failed",
            null,
            error.reason(),
            null,
            "kept in the dead letters after " + mostErrors + " errors; an operator may replay it"),
        error.what());
  }

  /// A long step of our own making is cut short for a last try; what a provider asks for is not.
  private Duration afterDeferral(
      Channel channel, Parcel parcel, DeliveryOutcome.Deferred deferred) {
    Duration wait = retries.after(channel, deferred, parcel.push().attempt());
    return deferred.after() == null && wait.compareTo(RetrySchedule.LONGEST) >= 0
        ? beforeItsEnd(parcel, wait)
        : wait;
  }

  /// What is at fault may be repaired in the last moment.
  private Duration beforeItsEnd(Parcel parcel, Duration wait) {
    Duration left = Duration.between(clock.instant(), parcel.push().expiresAt()).minus(LAST_TRY);
    return left.compareTo(wait) < 0 && left.compareTo(LAST_TRY) > 0 ? left : wait;
  }

  /// Without an answer nothing was sent, unless nobody knows.
  private static @Nullable String orNotSent(DeliveryOutcome outcome, @Nullable String done) {
    return done == null && outcome.status() == 0 ? NOT_SENT : done;
  }

  /// Why a parcel is tried again.
  ///
  /// @param done what was done about it besides; null where nothing
  private record Cause(int status, String reason, @Nullable String done) {
    String and(String then) {
      return done == null ? then : done + "; " + then;
    }
  }

  /// @param next what comes back then
  private void again(
      Channel channel, Parcel parcel, Push next, Duration wait, Cause cause, Outbox outbox) {
    Instant dueAt = clock.instant().plus(wait).truncatedTo(ChronoUnit.MILLIS);
    if (parcel.push().expiredAt(dueAt)) {
      outbox.end(
          parcel,
          DeliveryState.EXPIRED,
          outbox.attempt(
              channel,
              "expired",
              orNull(cause.status()),
              cause.reason(),
              null,
              cause.and("its ttl ends before the next try")));
      return;
    }
    outbox.retry(
        parcel,
        next,
        channel,
        dueAt,
        outbox.attempt(
            channel,
            "deferred",
            orNull(cause.status()),
            cause.reason(),
            null,
            cause.and("retry at " + dueAt)));
  }

  /// This channel will never do: another one, or the end.
  private void otherwise(Channel channel, Parcel parcel, Attempt attempt, Outbox outbox) {
    List<Channel> tried = new ArrayList<>(parcel.push().tried());
    tried.add(channel);
    Optional<Channel> next =
        parcel.recipient().channel(parcel.push().delivery().route(), false, tried);
    next.ifPresentOrElse(
        to -> outbox.fallBack(parcel, channel, to, attempt),
        () -> outbox.end(parcel, DeliveryState.FAILED, attempt));
  }

  private String forget(Channel channel, Parcel parcel, Instant since, String reason) {
    ApnsToken apns = parcel.recipient().apns();
    FcmToken fcm = parcel.recipient().fcm();
    HmsToken hms = parcel.recipient().hms();
    WebPushSubscription webpush = parcel.recipient().webpush();
    String token =
        switch (channel) {
          case APNS -> apns == null ? null : apns.token();
          case FCM -> fcm == null ? null : fcm.token();
          case HMS -> hms == null ? null : hms.token();
          case WEBPUSH -> webpush == null ? null : webpush.json();
          case MQTT -> null;
        };
    if (token == null) {
      return "nothing to forget";
    }
    try {
      return tokens
          .forget(
              parcel.push().app(),
              parcel.recipient().device(),
              channel,
              environment(channel, parcel),
              token,
              since,
              reason)
          .words();
    } catch (DataAccessException e) {
      LOG.warn(
          "event=token_not_forgotten appId={} deviceId={} reason=\"{}\"",
          parcel.push().app(),
          parcel.recipient().device(),
          e.toString());
      return "token kept: the database is away";
    }
  }

  /// Each environment of APNs has a credential of its own.
  private static String environment(Channel channel, Parcel parcel) {
    ApnsToken apns = parcel.recipient().apns();
    return channel == Channel.APNS && apns != null ? apns.environment() : "";
  }

  /// A status of 0 means that there was no answer.
  private static @Nullable Integer orNull(int status) {
    return status == 0 ? null : status;
  }
}
