package io.pushplanet.gateway.provider;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Expired;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// The providers' meters: `pushplanet.provider.send` by channel and outcome,
/// `pushplanet.provider.tokens.minted` by channel. Thread-safe.
public final class ProviderMetrics {
  private final MeterRegistry meters;
  private final Channel channel;
  private final Map<String, Timer> sends = new ConcurrentHashMap<>();

  public ProviderMetrics(MeterRegistry meters, Channel channel) {
    this.meters = meters;
    this.channel = channel;
  }

  /// Times one send.
  public DeliveryOutcome timed(Supplier<DeliveryOutcome> send) {
    return timedTogether(() -> List.of(send.get())).getFirst();
  }

  /// Times one send to several recipients and counts each outcome.
  public List<DeliveryOutcome> timedTogether(Supplier<List<DeliveryOutcome>> send) {
    long startNanos = System.nanoTime();
    List<DeliveryOutcome> outcomes = send.get();
    long tookNanos = System.nanoTime() - startNanos;
    for (DeliveryOutcome outcome : outcomes) {
      timer(word(outcome)).record(tookNanos, TimeUnit.NANOSECONDS);
    }
    return outcomes;
  }

  /// A provider token or access token was made.
  public void tokenMinted() {
    meters.counter("pushplanet.provider.tokens.minted", "channel", channel.word()).increment();
  }

  private Timer timer(String outcome) {
    return sends.computeIfAbsent(
        outcome,
        word ->
            Timer.builder("pushplanet.provider.send")
                .tag("channel", channel.word())
                .tag("outcome", word)
                .publishPercentileHistogram()
                .register(meters));
  }

  private static String word(DeliveryOutcome outcome) {
    return switch (outcome) {
      case DeliveryOutcome.Remedied remedied -> word(remedied.then());
      case Accepted _ -> "accepted";
      case Rejected _ -> "rejected";
      case Expired _ -> "expired";
      case TokenGone _ -> "token_gone";
      case TokenForeign _ -> "token_foreign";
      case TryAgain _, PutOff _ -> "deferred";
      case CredentialFault _ -> "credential_fault";
      case DeliveryOutcome.InternalError _ -> "internal_error";
    };
  }
}
