package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Answers what the test says, per device or token; accepts otherwise.
final class ScriptedProvider implements Provider {
  final Map<String, DeliveryOutcome> answers = new ConcurrentHashMap<>();
  final Queue<String> sent = new ConcurrentLinkedQueue<>();
  final Queue<String> tokens = new ConcurrentLinkedQueue<>();

  /// `token`, `fid` and others, of FCM only.
  final Queue<String> kinds = new ConcurrentLinkedQueue<>();

  final Queue<List<String>> requests = new ConcurrentLinkedQueue<>();
  final Channel channel;
  volatile int together = 1;
  volatile boolean puttingOff;
  volatile boolean resting;

  ScriptedProvider(Channel channel) {
    this.channel = channel;
  }

  @Override
  public Channel channel() {
    return channel;
  }

  @Override
  public Optional<DeliveryOutcome> putOff(Push push) {
    return puttingOff && !push.cameBack()
        ? Optional.of(new DeliveryOutcome.PutOff(0, "project_quota_rest", Duration.ofMinutes(1)))
        : Optional.empty();
  }

  @Override
  public Optional<DeliveryOutcome> turn(Push push) {
    return resting
        ? Optional.of(new DeliveryOutcome.PutOff(0, "flow_control_rest", Duration.ofMinutes(1)))
        : Optional.empty();
  }

  @Override
  public DeliveryOutcome send(Push push, Recipient recipient) {
    String token = recipient.token(channel).map(Recipient.Registered::text).orElse("");
    sent.add(recipient.device().value());
    tokens.add(token);
    if (channel == Channel.FCM && recipient.fcm() != null) {
      kinds.add(recipient.fcm().kind());
    }
    DeliveryOutcome otherwise =
        answers.getOrDefault(token, new DeliveryOutcome.Accepted(200, "", "provider-id"));
    return answers.getOrDefault(recipient.device().value(), otherwise);
  }

  @Override
  public boolean takesNeighbours() {
    return channel == Channel.HMS;
  }

  @Override
  public int mostTogether(Push push) {
    return together;
  }

  @Override
  public List<DeliveryOutcome> send(Push push, List<Recipient> recipients) {
    requests.add(recipients.stream().map(it -> it.device().value()).toList());
    return recipients.stream().map(recipient -> send(push, recipient)).toList();
  }
}
