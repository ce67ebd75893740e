package io.pushplanet.common.message;

import static java.util.Objects.requireNonNull;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.target.Recipient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One message on its way to some of its recipients. Lanes carry it.
///
/// @param recipients 1 to [#MAX_RECIPIENTS] in a lane
/// @param attempt the number of earlier attempts over this channel, 0 at first
/// @param tried channels that were given up for these recipients, so that a fallback does not
///     return to them
/// @param traceparent W3C trace context of the accepting request
/// @param audience roughly how many recipients the whole message has; [#UNCOUNTED] for a broadcast
///     that could not be counted; null where they fit into one lane message
/// @param waited true once it has waited without an attempt; else null
/// @param errors how often a worker failed on it by a bug, since its last channel; null for never
/// @param inInbox true once it is in its device's inbox and the device's node must still be asked
///     to read it; else null
public record Push(
    MessageId id,
    AppId app,
    Content content,
    DeliveryOptions delivery,
    Overrides overrides,
    Instant acceptedAt,
    Instant expiresAt,
    List<Recipient> recipients,
    int attempt,
    List<Channel> tried,
    @Nullable String traceparent,
    @Nullable Integer audience,
    @Nullable Boolean waited,
    @Nullable Integer errors,
    @Nullable Boolean inInbox) {
  /// A fan-out chunk and the longest list of devices in one lane message.
  public static final int MAX_RECIPIENTS = 500;

  /// A broadcast that could not be counted in time counts as large.
  public static final int UNCOUNTED = Integer.MAX_VALUE;

  public Push {
    requireNonNull(id);
    requireNonNull(app);
    requireNonNull(content);
    requireNonNull(delivery);
    requireNonNull(acceptedAt);
    requireNonNull(expiresAt);
    recipients = List.copyOf(recipients);
    tried = tried == null ? List.of() : List.copyOf(tried);
    overrides = overrides == null ? Overrides.NONE : overrides;
  }

  /// A message at the moment of its acceptance, before its recipients are known.
  public static Push accepted(
      MessageId id,
      AppId app,
      Content content,
      DeliveryOptions delivery,
      Overrides overrides,
      Instant acceptedAt,
      @Nullable String traceparent) {
    return new Push(
        id,
        app,
        content,
        delivery,
        overrides,
        acceptedAt,
        acceptedAt.plus(delivery.ttl()),
        List.of(),
        0,
        List.of(),
        traceparent,
        null,
        null,
        null,
        null);
  }

  /// The same as a part of a message for a larger audience.
  public Push ofAudience(int about) {
    return with(
        recipients, attempt, tried, about > MAX_RECIPIENTS ? about : null, waited, errors, inInbox);
  }

  public boolean expiredAt(Instant now) {
    return !now.isBefore(expiresAt);
  }

  /// When a request with it must be written at the latest. Null without a time to live: such a
  /// message expires when it is accepted, and gets its one attempt all the same.
  public @Nullable Instant writeBy() {
    return delivery.ttl().isZero() ? null : expiresAt;
  }

  /// The rest of its time to live; 0 without one.
  public long secondsLeft(Instant now) {
    return delivery.ttl().isZero() ? 0 : Math.max(0, Duration.between(now, expiresAt).toSeconds());
  }

  /// Whether a worker took it from its channel's lane before.
  public boolean cameBack() {
    return attempt > 0 || waited != null;
  }

  /// Whether no worker has tried it or put it off, over this or an earlier channel.
  public boolean onFirstWay() {
    return !cameBack() && tried.isEmpty();
  }

  public Push to(List<Recipient> others) {
    return with(others, attempt, tried, audience, waited, errors, inInbox);
  }

  /// After an attempt.
  public Push retried() {
    return with(recipients, attempt + 1, tried, audience, waited, errors, inInbox);
  }

  /// After an attempt that failed by a bug of ours.
  public Push afterError() {
    return with(recipients, attempt + 1, tried, audience, waited, timesTrippedOver() + 1, inInbox);
  }

  public int timesTrippedOver() {
    return errors == null ? 0 : errors;
  }

  /// As if no attempt had been made yet. It counts as one that waited, because it may have ended
  /// meanwhile.
  public Push restarted() {
    return with(recipients, 0, tried, audience, true, null, null);
  }

  /// Once its inbox has it.
  public Push movedToInbox() {
    return with(recipients, attempt, tried, audience, waited, errors, true);
  }

  /// After a wait without an attempt.
  public Push putOff() {
    return with(recipients, attempt, tried, audience, true, errors, inInbox);
  }

  /// After a channel was given up: attempts over the next channel count from zero.
  public Push fallenBackFrom(Channel channel) {
    List<Channel> more = new ArrayList<>(tried);
    more.add(channel);
    return with(recipients, 0, more, audience, null, null, null);
  }

  private Push with(
      List<Recipient> recipients,
      int attempt,
      List<Channel> tried,
      @Nullable Integer audience,
      @Nullable Boolean waited,
      @Nullable Integer errors,
      @Nullable Boolean inInbox) {
    return new Push(
        id,
        app,
        content,
        delivery,
        overrides,
        acceptedAt,
        expiresAt,
        recipients,
        attempt,
        tried,
        traceparent,
        audience,
        waited,
        errors,
        inInbox);
  }
}
