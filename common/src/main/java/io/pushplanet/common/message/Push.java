package io.pushplanet.common.message;

import static java.util.Objects.requireNonNull;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.target.Recipient;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One message on its way to some of its recipients: what a lane carries.
///
/// @param recipients 1 to [#MOST_RECIPIENTS]
/// @param attempt how often a provider was tried before, 0 at first
/// @param tried channels that were given up for these recipients, so that a fallback does not return to them
/// @param traceparent W3C trace context of the accepting request
/// @param audience about how many recipients the whole message has; null where they fit into one lane message or nobody counted
/// @param waited true once it was put off without a try; else null
/// @param errors how often a worker tripped over it, since its last channel; null for never
/// @param inInbox true once it lies in its device's inbox, into which its node is still to be asked to look; else null
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
  public static final int MOST_RECIPIENTS = 500;

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

  /// One of few recipients.
  public Push(
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
      @Nullable String traceparent) {
    this(
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
        null,
        null,
        null,
        null);
  }

  /// The same as a part of something larger.
  public Push ofAudience(int about) {
    return with(
        recipients,
        attempt,
        tried,
        about > MOST_RECIPIENTS ? about : null,
        waited,
        errors,
        inInbox);
  }

  public boolean expiredAt(Instant now) {
    return !now.isBefore(expiresAt);
  }

  /// Whether it was at its provider's lane before.
  public boolean cameBack() {
    return attempt > 0 || waited != null;
  }

  public Push to(List<Recipient> others) {
    return with(others, attempt, tried, audience, waited, errors, inInbox);
  }

  /// After a try.
  public Push again() {
    return with(recipients, attempt + 1, tried, audience, waited, errors, inInbox);
  }

  /// After a try that a worker tripped over.
  public Push afterError() {
    return with(recipients, attempt + 1, tried, audience, waited, timesTrippedOver() + 1, inInbox);
  }

  public int timesTrippedOver() {
    return errors == null ? 0 : errors;
  }

  /// All its tries are before it once more; it may have come to its end meanwhile.
  public Push anew() {
    return with(recipients, 0, tried, audience, true, null, null);
  }

  /// Once it is parked.
  public Push parked() {
    return with(recipients, attempt, tried, audience, waited, errors, true);
  }

  /// Without a try.
  public Push putOff() {
    return with(recipients, attempt, tried, audience, true, errors, inInbox);
  }

  /// The same message after a channel was given up: attempts count anew.
  public Push without(Channel channel) {
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
