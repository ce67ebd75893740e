package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.gateway.delivery.Outbox.Cause;
import io.pushplanet.gateway.lane.LongWaits;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.retry.RetrySchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Delivers over MQTT: parcels go to their devices' nodes. A parcel whose device cannot be reached
/// there falls back to the vendor's channel, or is parked in the inbox. Thread-safe; calls block.
final class MqttDelivery {
  private final NodeDelivery nodes;
  private final RetrySchedule retries;

  MqttDelivery(NodeDelivery nodes, RetrySchedule retries) {
    this.nodes = nodes;
    this.retries = retries;
  }

  /// Returns when every parcel has its outcome.
  ///
  /// @param longWaits of the parcels' lane
  void deliver(List<Parcel> parcels, Ticket ticket, LongWaits longWaits, Outbox outbox) {
    // If such a parcel were sent like the others, a device that has read its inbox by now would get
    // it twice.
    lookIntoInbox(parcels.stream().filter(MqttDelivery::isInInbox).toList(), outbox);
    List<NodeDelivery.Request> requests =
        parcels.stream()
            .filter(parcel -> !isInInbox(parcel))
            .map(parcel -> new NodeDelivery.Request(parcel, vendor(parcel).isPresent()))
            .toList();
    nodes.deliver(
        requests,
        ticket,
        longWaits,
        answers -> {
          answers.forEach(answer -> handle(answer, outbox));
          outbox.flush();
        });
  }

  private static boolean isInInbox(Parcel parcel) {
    return parcel.push().inInbox() != null;
  }

  /// Asks the nodes of connected devices to look into the inboxes: a device that connected just now
  /// read its inbox before the parcel was there. Where a node could not be asked, the parcel comes
  /// back to ask again.
  void lookIntoInbox(List<Parcel> parked, Outbox outbox) {
    nodes.drainConnected(parked).forEach(outbox::lookAgain);
  }

  private void handle(NodeDelivery.Answer answer, Outbox outbox) {
    Parcel parcel = answer.parcel();
    switch (answer.result()) {
      case DELIVERED -> {
        Instant at = answer.acknowledgedAt();
        end(
            parcel,
            DeliveryState.DELIVERED,
            at == null ? Attempt.acknowledged(outbox.now()) : Attempt.acknowledgedLate(at),
            outbox);
      }
      case NOT_HERE, TIMEOUT, REFUSED -> notDelivered(parcel, answer, outbox);
    }
  }

  private void notDelivered(Parcel parcel, NodeDelivery.Answer answer, Outbox outbox) {
    Optional<Channel> vendor = vendor(parcel);
    if (vendor.isPresent()) {
      Channel to = vendor.get();
      outbox.fallBack(
          parcel,
          Channel.MQTT,
          to,
          Attempt.notDelivered(
              Channel.MQTT,
              outbox.now(),
              answer.reason(),
              answer.words("falls back to " + to.word())));
      return;
    }
    if (answer.isRefusedForGood()) {
      end(
          parcel,
          DeliveryState.FAILED,
          Attempt.refused(
              Channel.MQTT, outbox.now(), answer.reason(), answer.words("not repeated")),
          outbox);
      return;
    }
    if (answer.reason().equals(NodeDelivery.DIRECTORY_UNAVAILABLE)) {
      // Its device may be connected: a parked parcel would wait for a connect that does not come.
      outbox.retry(
          parcel,
          parcel.alone().retried(),
          Channel.MQTT,
          waitForDirectory(parcel, outbox),
          new Cause(0, answer.reason(), Cause.NOT_SENT));
      return;
    }
    if (parcel.push().delivery().ttl().isZero()) {
      outbox.end(
          parcel,
          DeliveryState.EXPIRED,
          Attempt.expired(Channel.MQTT, outbox.now(), answer.reason(), "its ttl is now or never"));
      return;
    }
    outbox.park(
        parcel,
        Attempt.parked(
            Channel.MQTT, outbox.now(), answer.reason(), answer.words(whatItWaitsFor(answer))));
  }

  /// No device was asked, so a last try cannot come too soon.
  private Duration waitForDirectory(Parcel parcel, Outbox outbox) {
    return RetrySchedule.beforeItsEnd(
        retries.afterDirectoryLoss(parcel.push().attempt()),
        Duration.between(outbox.now(), parcel.push().expiresAt()),
        Duration.ZERO);
  }

  private static String whatItWaitsFor(NodeDelivery.Answer answer) {
    return switch (answer.reason()) {
      case NodeOutcomes.NOT_SUBSCRIBED ->
          "the device is connected, but has not subscribed to push/messages; waits in the inbox until it has";
      case NodeDelivery.TIMEOUT ->
          "the device is connected, but has not acknowledged it; waits in the inbox until it does or connects again";
      default -> "waits in the inbox until the device connects";
    };
  }

  private static void end(Parcel parcel, DeliveryState state, Attempt attempt, Outbox outbox) {
    if (parcel.repeat()) {
      outbox.endAndTakeOut(parcel, state, attempt);
    } else {
      outbox.end(parcel, state, attempt);
    }
  }

  /// The channel to fall back to.
  private static Optional<Channel> vendor(Parcel parcel) {
    return parcel.push().delivery().route() == Route.AUTO
        ? parcel.recipient().vendor(parcel.push().tried())
        : Optional.empty();
  }
}
