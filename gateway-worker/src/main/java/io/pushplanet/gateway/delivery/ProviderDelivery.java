package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
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

/// Delivers to a vendor: parcels become requests, each waits for the provider's turn and for a
/// permit of its lane, and its answer goes to [ProviderOutcomes]. Thread-safe; calls block.
final class ProviderDelivery {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderDelivery.class);

  /// How often the outcomes of a batch leave while its slower parcels are under way. Parcels that
  /// are equally fast share a message of the broker's: the number of these is what limits us.
  private static final Duration TOLD_EVERY = Duration.ofMillis(50);

  /// The reason of a message that got no permit.
  static final String PROVIDER_SLOW = "provider_slow";

  /// Virtual threads are not preempted, and the next one may carry a message of high priority.
  private static final int MAX_WITHOUT_A_BREAK = 50;

  private final Map<Channel, Provider> providers = new EnumMap<>(Channel.class);
  private final ProviderOutcomes outcomes;
  private final SettledBefore settledBefore;
  private final Semaphore checks = new Semaphore(1);

  ProviderDelivery(
      List<Provider> providers, ProviderOutcomes outcomes, SettledBefore settledBefore) {
    providers.forEach(provider -> this.providers.put(provider.channel(), provider));
    this.outcomes = outcomes;
    this.settledBefore = settledBefore;
  }

  /// The parcel has waited, and its device has no token of this channel any more.
  void noToken(Channel channel, Parcel parcel, Outbox outbox) {
    outcomes.noToken(channel, parcel, outbox);
  }

  /// Returns when every parcel has its outcome.
  ///
  /// @param lane of the parcels
  void deliver(Channel channel, List<Parcel> parcels, Lane lane, Outbox outbox) {
    Provider provider = providers.get(channel);
    if (provider == null) {
      parcels.forEach(parcel -> outcomes.noProvider(channel, parcel, outbox));
      return;
    }
    Fallbacks fallbacks =
        new Fallbacks(
            parcels,
            settledBefore,
            checks,
            parcel -> outbox.callOff(parcel, channel),
            outbox::cancel);
    new BatchSend(provider, lane, fallbacks, outbox).run(requests(provider, parcels));
  }

  /// Groups parcels that the provider takes in one request: those of one message with the same
  /// number of attempts. The lists can be changed.
  private static List<List<Parcel>> requests(Provider provider, List<Parcel> parcels) {
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

  /// Sends the requests of one batch.
  private final class BatchSend {
    private final Provider provider;
    private final Lane lane;
    private final Fallbacks fallbacks;
    private final Outbox outbox;

    BatchSend(Provider provider, Lane lane, Fallbacks fallbacks, Outbox outbox) {
      this.provider = provider;
      this.lane = lane;
      this.fallbacks = fallbacks;
      this.outbox = outbox;
    }

    void run(List<List<Parcel>> requests) {
      if (requests.size() == 1 && fallbacks.isEmpty()) {
        // A single request has no outcomes that could leave early, and nothing ends its wait.
        if (!putOff(requests.getFirst())) {
          sendAndHandle(requests.getFirst());
        }
        return;
      }
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        CountDownLatch open = new CountDownLatch(requests.size());
        List<Future<?>> sends = start(requests, threads, open);
        awaitAll(open);
        for (Future<?> one : sends) {
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

    /// @param open counts requests without an outcome
    private List<Future<?>> start(
        List<List<Parcel>> requests, ExecutorService threads, CountDownLatch open) {
      List<Future<?>> sends = new ArrayList<>();
      int putOff = 0;
      for (List<Parcel> request : requests) {
        if (putOff(request)) {
          open.countDown();
          if (++putOff % MAX_WITHOUT_A_BREAK == 0) {
            Thread.yield();
          }
          continue;
        }
        sends.add(
            threads.submit(() -> {
              try {
                sendAndHandle(request);
              } finally {
                open.countDown();
              }
            }));
      }
      return sends;
    }

    /// Meanwhile outcomes leave, and parcels that ended elsewhere are called off.
    private void awaitAll(CountDownLatch open) throws InterruptedException {
      try {
        while (!open.await(TOLD_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
          outbox.flush();
          fallbacks.check();
        }
      } catch (RuntimeException e) {
        // The batch will be handed out again, but not before the requests under way have ended.
        open.await();
        throw e;
      }
    }

    /// @return whether the request is not sent now
    private boolean putOff(List<Parcel> request) {
      Push push = request.getFirst().push();
      Optional<DeliveryOutcome> later;
      try {
        later = provider.putOff(push);
      } catch (RuntimeException | Error e) {
        // `turn` will throw the same error and report it.
        return false;
      }
      later.ifPresent(outcome -> {
        lane.returning().providerNotAsked(push.app());
        fallbacks.leave(request);
        request.forEach(parcel -> outcomes.handle(provider.channel(), parcel, outcome, outbox));
      });
      return later.isPresent();
    }

    private void sendAndHandle(List<Parcel> request) {
      List<DeliveryOutcome> answers = send(request);
      for (int i = 0; i < request.size(); i++) {
        outcomes.handle(provider.channel(), request.get(i), answers.get(i), outbox);
      }
    }

    /// @param request loses the parcels that ended while it waited for its turn
    /// @return an outcome for each of the others
    private List<DeliveryOutcome> send(List<Parcel> request) {
      Push push = request.getFirst().push().to(recipients(request));
      try {
        Optional<DeliveryOutcome> notNow;
        boolean acquired;
        try {
          // In this order: a request that waits for its turn takes no permit from others.
          notNow = provider.turn(push);
          acquired = notNow.isEmpty() && lane.permits().acquire(push.app());
        } finally {
          fallbacks.leave(request);
        }
        if (notNow.isPresent()) {
          lane.returning().providerNotAsked(push.app());
          return Collections.nCopies(request.size(), notNow.get());
        }
        return acquired ? sendWithPermit(push, request) : putOff(push.app(), request);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return Collections.nCopies(
            request.size(), new DeliveryOutcome.TryAgain(0, "worker_stops", null, false));
      } catch (RuntimeException | Error e) {
        // A bug that one message meets must not send its neighbours a second time: only this
        // message is tried again, and not for ever.
        LOG.error(
            "event=send_failed channel={} messageId={} appId={}",
            provider.channel().word(),
            push.id(),
            push.app(),
            e);
        return Collections.nCopies(request.size(), new DeliveryOutcome.InternalError(e.toString()));
      }
    }

    private List<DeliveryOutcome> sendWithPermit(Push push, List<Parcel> request) {
      long acquiredNanos = System.nanoTime();
      Response response = Response.NO_ANSWER;
      try {
        List<Recipient> recipients = recipients(request);
        List<DeliveryOutcome> answers =
            recipients.isEmpty() ? List.of() : provider.send(push.to(recipients), recipients);
        response = response(answers);
        return answers;
      } finally {
        lane.permits().release(push.app(), acquiredNanos, response);
      }
    }

    private List<DeliveryOutcome> putOff(AppId app, List<Parcel> request) {
      return request.stream()
          .<DeliveryOutcome>map(
              _ -> new DeliveryOutcome.PutOff(0, PROVIDER_SLOW, lane.returning().putOff(app)))
          .toList();
    }
  }

  private static Response response(List<DeliveryOutcome> outcomes) {
    Set<Response> responses =
        outcomes.stream().map(ProviderDelivery::response).collect(Collectors.toSet());
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
      case DeliveryOutcome.TryAgain _, DeliveryOutcome.InternalError _ -> Response.NO_ANSWER;
      case DeliveryOutcome.PutOff _, DeliveryOutcome.CredentialFault _, DeliveryOutcome.Expired _ ->
          Response.NOT_ASKED;
      // The message has ended, and there is nothing to wait for.
      case DeliveryOutcome.Accepted _,
          DeliveryOutcome.Rejected _,
          DeliveryOutcome.TokenGone _,
          DeliveryOutcome.TokenForeign _,
          DeliveryOutcome.Remedied _ ->
          Response.ANSWERED;
    };
  }

  private static List<Recipient> recipients(List<Parcel> request) {
    return request.stream().map(Parcel::recipient).toList();
  }
}
