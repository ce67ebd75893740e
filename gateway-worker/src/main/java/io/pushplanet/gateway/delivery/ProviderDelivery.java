package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.lane.FairPermits.Response;
import io.pushplanet.gateway.lane.Lanes.Lane;
import io.pushplanet.gateway.parcel.Fallbacks;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.parcel.SettledBefore;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The way to a vendor: parcels become requests, each waits for its turn and for a place of its lane, and its answer is handed to
/// [ProviderOutcomes]. Thread-safe; calls block.
final class ProviderDelivery {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderDelivery.class);

  /// While a batch waits for its slower parcels, what came of the others leaves so often. Neighbours that are as fast as each
  /// other travel together: the broker's messages are what limits us.
  private static final Duration TOLD_EVERY = Duration.ofMillis(50);

  /// The reason of who got no place.
  static final String PROVIDER_SLOW = "provider_slow";

  /// Nothing takes a processor from a virtual thread, and the next in line may carry what is `high`.
  private static final int MOST_WITHOUT_A_BREAK = 50;

  private final Map<Channel, Provider> providers = new EnumMap<>(Channel.class);
  private final ProviderOutcomes outcomes;
  private final SettledBefore settledBefore;
  private final Semaphore looks = new Semaphore(1);

  ProviderDelivery(
      List<Provider> providers, ProviderOutcomes outcomes, SettledBefore settledBefore) {
    providers.forEach(provider -> this.providers.put(provider.channel(), provider));
    this.outcomes = outcomes;
    this.settledBefore = settledBefore;
  }

  /// It has waited, and its device has no token of this channel any more.
  void noToken(Channel channel, Parcel parcel, Outbox outbox) {
    outcomes.noToken(channel, parcel, outbox);
  }

  /// Returns when every parcel has its outcome.
  ///
  /// @param lane that they came from
  void deliver(Channel channel, List<Parcel> parcels, Lane lane, Outbox outbox) {
    Provider provider = providers.get(channel);
    if (provider == null) {
      parcels.forEach(parcel -> outcomes.noProvider(channel, parcel, outbox));
      return;
    }
    List<List<Parcel>> requests = together(provider, parcels);
    Fallbacks fallbacks =
        new Fallbacks(
            parcels,
            settledBefore,
            looks,
            parcel -> outbox.callOff(parcel, channel),
            outbox::cancel);
    if (requests.size() == 1 && fallbacks.isEmpty()) {
      // A single message: nothing can be told of it meanwhile, and nothing ends its wait.
      if (!putOff(provider, requests.getFirst(), lane, fallbacks, outbox)) {
        sendAndHandle(provider, requests.getFirst(), lane, fallbacks, outbox);
      }
      return;
    }
    try (ExecutorService sends = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> sent = new ArrayList<>();
      CountDownLatch open = new CountDownLatch(requests.size());
      int putOff = 0;
      for (List<Parcel> together : requests) {
        if (putOff(provider, together, lane, fallbacks, outbox)) {
          open.countDown();
          if (++putOff % MOST_WITHOUT_A_BREAK == 0) {
            Thread.yield();
          }
          continue;
        }
        sent.add(
            sends.submit(() -> {
              try {
                sendAndHandle(provider, together, lane, fallbacks, outbox);
              } finally {
                open.countDown();
              }
            }));
      }
      awaitAll(open, fallbacks, outbox);
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

  /// Parcels that the provider takes in one request: those of one message after as many attempts. Lists of their own.
  private static List<List<Parcel>> together(Provider provider, List<Parcel> parcels) {
    Map<Push, List<Parcel>> open = new HashMap<>();
    List<List<Parcel>> requests = new ArrayList<>();
    for (Parcel parcel : parcels) {
      int most = provider.mostTogether(parcel.push());
      if (most == 1) {
        requests.add(new ArrayList<>(List.of(parcel)));
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

  /// Meanwhile what came leaves, and what ended elsewhere is called off.
  private static void awaitAll(CountDownLatch open, Fallbacks fallbacks, Outbox outbox)
      throws InterruptedException {
    try {
      while (!open.await(TOLD_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
        outbox.keep();
        fallbacks.look();
      }
    } catch (RuntimeException e) {
      // Those under way are not sent again for what others could not keep.
      open.await();
      throw e;
    }
  }

  /// @return whether it is not sent now
  private boolean putOff(
      Provider provider, List<Parcel> together, Lane lane, Fallbacks fallbacks, Outbox outbox) {
    Optional<DeliveryOutcome> later;
    try {
      later = provider.putOff(together.getFirst().push());
    } catch (RuntimeException | Error e) {
      // Its turn meets the same, and tells of it.
      return false;
    }
    later.ifPresent(outcome -> {
      lane.returning().providerNotAsked(together.getFirst().push().app());
      fallbacks.leave(together);
      together.forEach(parcel -> outcomes.handle(provider.channel(), parcel, outcome, outbox));
    });
    return later.isPresent();
  }

  private void sendAndHandle(
      Provider provider, List<Parcel> together, Lane lane, Fallbacks fallbacks, Outbox outbox) {
    List<DeliveryOutcome> answers = send(provider, together, lane, fallbacks);
    for (int i = 0; i < together.size(); i++) {
      outcomes.handle(provider.channel(), together.get(i), answers.get(i), outbox);
    }
  }

  /// @param together loses what ended while it waited for its turn
  /// @return an outcome for each that is left
  private static List<DeliveryOutcome> send(
      Provider provider, List<Parcel> together, Lane lane, Fallbacks fallbacks) {
    Push push = together.getFirst().push().to(recipients(together));
    try {
      Optional<DeliveryOutcome> notNow;
      boolean acquired;
      try {
        // Whoever waits for its turn takes no place from others.
        notNow = provider.turn(push);
        acquired = notNow.isEmpty() && lane.permits().acquire(push.app());
      } finally {
        fallbacks.leave(together);
      }
      if (notNow.isPresent()) {
        lane.returning().providerNotAsked(push.app());
        return Collections.nCopies(together.size(), notNow.get());
      }
      if (!acquired) {
        return together.stream()
            .<DeliveryOutcome>map(
                _ -> new DeliveryOutcome.PutOff(0, PROVIDER_SLOW, lane.returning().defer(push.app())))
            .toList();
      }
      long acquiredNanos = System.nanoTime();
      Response response = Response.NO_ANSWER;
      try {
        List<Recipient> recipients = recipients(together);
        List<DeliveryOutcome> outcomes =
            recipients.isEmpty() ? List.of() : provider.send(push.to(recipients), recipients);
        response = response(outcomes);
        return outcomes;
      } finally {
        lane.permits().release(push.app(), acquiredNanos, response);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Collections.nCopies(
          together.size(), new DeliveryOutcome.Deferred(0, "worker_stops", null, false));
    } catch (RuntimeException | Error e) {
      // A bug that one message meets must not send its neighbours a second time: only this one is
      // tried again, and not for ever.
      LOG.error(
          "event=send_failed channel={} messageId={} appId={}",
          provider.channel().word(),
          push.id(),
          push.app(),
          e);
      return Collections.nCopies(together.size(), new DeliveryOutcome.InternalError(e.toString()));
    }
  }

  private static Response response(List<DeliveryOutcome> outcomes) {
    Set<Response> responses = outcomes.stream().map(ProviderDelivery::response).collect(Collectors.toSet());
    if (responses.contains(Response.NO_ANSWER)) {
      return Response.NO_ANSWER;
    }
    return responses.contains(Response.ANSWERED) ? Response.ANSWERED : Response.NOT_ASKED;
  }

  private static Response response(DeliveryOutcome outcome) {
    if (outcome.status() > 0) {
      return Response.ANSWERED;
    }
    return switch (outcome) {
      case DeliveryOutcome.Deferred _, DeliveryOutcome.InternalError _ -> Response.NO_ANSWER;
      case DeliveryOutcome.PutOff _, DeliveryOutcome.CredentialFault _, DeliveryOutcome.Expired _ ->
          Response.NOT_ASKED;
      // That is its end, whoever says so, and nothing to wait for.
      case DeliveryOutcome.Accepted _,
          DeliveryOutcome.Rejected _,
          DeliveryOutcome.TokenGone _,
          DeliveryOutcome.TokenForeign _,
          DeliveryOutcome.Remedied _ ->
          Response.ANSWERED;
    };
  }

  private static List<Recipient> recipients(List<Parcel> together) {
    return together.stream().map(Parcel::recipient).toList();
  }
}
