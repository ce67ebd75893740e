package io.pushplanet.gateway.delivery;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.wire.DevicePayload;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.Refusal;
import io.pushplanet.gateway.delivery.FrameGroups.Group;
import io.pushplanet.gateway.directory.DirectoryHealth;
import io.pushplanet.gateway.lane.LongWaits;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.parcel.Parcel;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Brings parcels to connected devices. It looks up in bulk which node has which device, and sends
/// each node one frame (or a few, where one would grow too long), and one more for each message
/// that goes to many of its devices. Thread-safe.
final class NodeDelivery {
  static final String DIRECTORY_UNAVAILABLE = "directory_unavailable";

  /// The node has the device, but the device has not acknowledged in time.
  static final String TIMEOUT = "timeout";

  /// A message for at least so many devices of one node travels as a broadcast.
  static final int MANY = 32;

  /// How long a batch waits for earlier batches of its lane. Batches that take longer hang.
  private static final Duration IN_ORDER_WITHIN = Duration.ofSeconds(2);

  private final SessionDirectory directory;
  private final DirectoryHealth health;
  private final Nodes nodes;
  private final Duration answerWithin;
  private final Clock clock;
  private final DeliveryMetrics metrics;

  NodeDelivery(
      SessionDirectory directory,
      DirectoryHealth health,
      Nodes nodes,
      Duration answerWithin,
      Clock clock,
      DeliveryMetrics metrics) {
    this.directory = directory;
    this.health = health;
    this.nodes = nodes;
    this.answerWithin = answerWithin;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// @param fallsBack whether another channel waits for this parcel's outcome
  /// @param atMost how long it waits, whatever the message says
  record Request(Parcel parcel, boolean fallsBack, Duration atMost) {
    Request(Parcel parcel, boolean fallsBack) {
      this(parcel, fallsBack, DeliveryOptions.DEFAULT_FALLBACK_AFTER);
    }

    AppId app() {
      return parcel.push().app();
    }

    boolean wishesToWaitLong() {
      return fallsBack && parcel.push().delivery().fallbackAfter().compareTo(atMost) > 0;
    }

    Request waitingLong() {
      return new Request(parcel, fallsBack, DeliveryOptions.LONGEST_FALLBACK_AFTER);
    }
  }

  /// What a node (or the directory) answered for a parcel.
  ///
  /// @param detail a longer explanation for the timeline
  /// @param acknowledgedAt the node's own time of the acknowledgement, where it told one
  record Answer(
      Parcel parcel,
      NodeOutcomes.Result result,
      String reason,
      @Nullable String detail,
      @Nullable Instant acknowledgedAt) {
    /// Whether the device will never accept the message from a node.
    boolean isRefusedForGood() {
      return result == NodeOutcomes.Result.REFUSED && Refusal.isForGood(reason);
    }

    /// The action, after the detail where there is one.
    String words(String action) {
      return detail == null ? action : detail + "; " + action;
    }
  }

  /// Passes answers on as they come, from several threads. Returns when every parcel has one, at
  /// the latest after the frames' deadlines.
  ///
  /// @param ticket frames are queued at their nodes in the order of the tickets
  /// @param longWaits of the lane
  /// @throws RuntimeException what `answers` throws, once all frames have ended
  void deliver(
      List<Request> requests, Ticket ticket, LongWaits longWaits, Consumer<List<Answer>> answers) {
    Map<DeviceKey, SessionOwner> owners;
    try {
      owners = directory.owners(requests.stream().map(request -> request.parcel().key()).toList());
    } catch (RedisUnavailable e) {
      ticket.pass();
      health.failed(e);
      answers.accept(notHere(requests, DIRECTORY_UNAVAILABLE));
      return;
    }
    Set<AppId> wishing =
        requests.stream()
            .filter(Request::wishesToWaitLong)
            .filter(request -> owners.containsKey(request.parcel().key()))
            .map(Request::app)
            .collect(Collectors.toSet());
    try (LongWaits.Granted waits = longWaits.take(wishing, requests.size())) {
      deliver(
          requests.stream()
              .map(request -> waits.to(request.app()) ? request.waitingLong() : request)
              .toList(),
          owners,
          ticket,
          answers);
    }
  }

  private void deliver(
      List<Request> requests,
      Map<DeviceKey, SessionOwner> owners,
      Ticket ticket,
      Consumer<List<Answer>> answers) {
    List<Request> away = new ArrayList<>();
    FrameGroups groups = new FrameGroups();
    for (Request request : requests) {
      SessionOwner owner = owners.get(request.parcel().key());
      if (owner == null) {
        away.add(request);
      } else {
        groups.add(owner.node(), request);
      }
    }
    List<Outgoing> outgoing = new ArrayList<>();
    for (Group one : groups.all) {
      addFrames(outgoing, one.node(), one.requests(), owners, answers);
    }
    try (ExecutorService frames = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> sent = queue(outgoing, ticket, frames);
      if (!away.isEmpty()) {
        answers.accept(notHere(away, "not_connected"));
      }
      for (Future<?> frame : sent) {
        frame.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while delivering", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a frame failed: " + e.getCause(), e.getCause());
    }
  }

  /// A frame or a broadcast that is ready to be sent.
  private record Outgoing(NodeId node, Priority priority, Consumer<Nodes.SendSlot> send) {
    Outgoing(NodeId node, List<Request> requests, Consumer<Nodes.SendSlot> send) {
      // All parcels of a batch come from one lane.
      this(node, requests.getFirst().parcel().push().delivery().priority(), send);
    }
  }

  /// Messages for few devices share frames, which leave before the broadcasts that came after those
  /// messages.
  private void addFrames(
      List<Outgoing> outgoing,
      NodeId node,
      List<Request> requests,
      Map<DeviceKey, SessionOwner> owners,
      Consumer<List<Answer>> answers) {
    Consumer<List<Request>> addFrames =
        few ->
            Frame.split(few)
                .forEach(frame ->
                    outgoing.add(
                        new Outgoing(node, few, slot -> sendFrame(slot, frame, owners, answers))));
    List<Request> few = new ArrayList<>();
    for (List<Request> alike : byMessage(requests)) {
      if (alike.size() < MANY) {
        few.addAll(alike);
        continue;
      }
      addFrames.accept(few);
      few.clear();
      for (int from = 0; from < alike.size(); from += NodeBroadcast.MAX_DEVICES) {
        List<Request> crowd =
            alike.subList(from, Math.min(alike.size(), from + NodeBroadcast.MAX_DEVICES));
        outgoing.add(
            new Outgoing(node, crowd, slot -> sendBroadcast(slot, crowd, owners, answers)));
      }
    }
    addFrames.accept(few);
  }

  private List<Future<?>> queue(List<Outgoing> outgoing, Ticket ticket, ExecutorService frames)
      throws InterruptedException {
    try {
      if (!outgoing.isEmpty() && !ticket.await(IN_ORDER_WITHIN)) {
        metrics.overtaking();
      }
      List<Future<?>> sent = new ArrayList<>();
      for (Outgoing one : outgoing) {
        Nodes.SendSlot slot = nodes.queue(one.node(), one.priority());
        sent.add(
            frames.submit(() -> {
              try (slot) {
                one.send().accept(slot);
              }
            }));
      }
      return sent;
    } finally {
      ticket.pass();
    }
  }

  private static List<Answer> notHere(List<Request> requests, String reason) {
    return requests.stream()
        .map(request ->
            new Answer(request.parcel(), NodeOutcomes.Result.NOT_HERE, reason, null, null))
        .toList();
  }

  /// To be called after parking: a device that connected meanwhile is drained by its node.
  ///
  /// @return the parcels whose node could not be asked, or whose node is not known
  List<Parcel> drainConnected(List<Parcel> parked) {
    Map<DeviceKey, SessionOwner> owners;
    try {
      owners = directory.owners(parked.stream().map(Parcel::key).distinct().toList());
    } catch (RedisUnavailable e) {
      health.failed(e);
      return parked;
    }
    Map<NodeId, List<Parcel>> byNode = new LinkedHashMap<>();
    for (Parcel parcel : parked) {
      SessionOwner owner = owners.get(parcel.key());
      if (owner != null) {
        byNode.computeIfAbsent(owner.node(), node -> new ArrayList<>()).add(parcel);
      }
    }
    List<Parcel> notAsked = new ArrayList<>();
    byNode.forEach((node, parcels) -> {
      Priority priority = parcels.getFirst().push().delivery().priority();
      if (!nodes.drain(node, priority, drain(parcels))) {
        notAsked.addAll(parcels);
      }
    });
    return notAsked;
  }

  private static NodeFrame.Drain drain(List<Parcel> parcels) {
    return new NodeFrame.Drain(
        parcels.stream()
            .map(Parcel::key)
            .distinct()
            .map(device -> new NodeFrame.Drain.Device(device.app(), device.device()))
            .toList());
  }

  private static Collection<List<Request>> byMessage(List<Request> requests) {
    Map<MessageId, List<Request>> alike = new LinkedHashMap<>();
    for (Request request : requests) {
      alike
          .computeIfAbsent(request.parcel().push().id(), message -> new ArrayList<>())
          .add(request);
    }
    return alike.values();
  }

  private void sendBroadcast(
      Nodes.SendSlot slot,
      List<Request> crowd,
      Map<DeviceKey, SessionOwner> owners,
      Consumer<List<Answer>> answers) {
    Push push = crowd.getFirst().parcel().push();
    Instant answerBy = answerBy(crowd);
    List<DeviceId> devices = new ArrayList<>(crowd.size());
    List<Long> epochs = new ArrayList<>(crowd.size());
    for (Request request : crowd) {
      SessionOwner owner = owners.get(request.parcel().key());
      devices.add(request.parcel().recipient().device());
      epochs.add(owner == null ? 0 : owner.epoch());
    }
    nodes.broadcast(
        slot,
        new NodeFrame.Message(push.id(), lastMoment(push, answerBy), DevicePayload.of(push)),
        push.app(),
        devices,
        epochs,
        answerBy,
        some -> answers.accept(some.stream().map(outcome -> answer(crowd, outcome)).toList()));
  }

  private void sendFrame(
      Nodes.SendSlot slot,
      Frame frame,
      Map<DeviceKey, SessionOwner> owners,
      Consumer<List<Answer>> answers) {
    Instant answerBy = answerBy(frame.requests);
    List<NodeFrame.Message> messages = new ArrayList<>();
    Map<MessageId, Integer> indexOf = new HashMap<>();
    List<NodeFrame.Target> targets = new ArrayList<>();
    for (Request request : frame.requests) {
      Parcel parcel = request.parcel();
      int message =
          indexOf.computeIfAbsent(
              parcel.push().id(),
              id -> {
                messages.add(
                    new NodeFrame.Message(
                        id, lastMoment(parcel.push(), answerBy), frame.payload(parcel.push())));
                return messages.size() - 1;
              });
      SessionOwner owner = owners.get(parcel.key());
      targets.add(
          new NodeFrame.Target(
              parcel.push().app(),
              parcel.recipient().device(),
              message,
              owner == null ? null : owner.epoch()));
    }
    nodes.deliver(
        slot,
        messages,
        targets,
        answerBy,
        some ->
            answers.accept(some.stream().map(outcome -> answer(frame.requests, outcome)).toList()));
  }

  private static Answer answer(List<Request> frame, NodeOutcomes.Outcome outcome) {
    String reason = outcome.reason() == null ? word(outcome.result()) : outcome.reason();
    return new Answer(
        frame.get(outcome.target()).parcel(),
        outcome.result(),
        reason,
        outcome.detail(),
        outcome.acknowledgedAt());
  }

  /// "Now or never" ends when the worker no longer waits for the answer, not before the node has
  /// read the frame.
  private static Instant lastMoment(Push push, Instant answerBy) {
    return push.delivery().ttl().isZero() ? answerBy : push.expiresAt();
  }

  /// The requests of a frame that may fall back all wait for the same time.
  private Instant answerBy(List<Request> frame) {
    Duration wait =
        frame.stream()
            .filter(Request::fallsBack)
            .findFirst()
            .map(FrameGroups::fallsBackAfter)
            .orElse(answerWithin);
    return clock.instant().plus(wait);
  }

  private static String word(NodeOutcomes.Result result) {
    return switch (result) {
      case DELIVERED -> "delivered";
      case NOT_HERE -> "not_here";
      case TIMEOUT -> TIMEOUT;
      case REFUSED -> "refused";
    };
  }
}
