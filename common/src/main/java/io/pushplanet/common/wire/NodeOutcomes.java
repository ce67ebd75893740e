package io.pushplanet.common.wire;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A node's answer on `gw/outcomes/<gateway>`: some targets of a frame, each exactly once over all
/// answers.
///
/// @param delivered only for a [NodeBroadcast], where nearly all targets are delivered: the first
///     and the last target of each unbroken run of delivered ones. The node has compared epochs
///     itself
public record NodeOutcomes(
    String frame,
    List<Outcome> outcomes,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Integer> delivered) {
  /// The reason of a [Result#NOT_HERE] for a connected device. A gateway shows any reason as it is,
  /// so a gateway of another version need not know this one, and a node of another version need not
  /// send it.
  public static final String NOT_SUBSCRIBED = "not_subscribed";

  public NodeOutcomes {
    outcomes = List.copyOf(outcomes);
    delivered = delivered == null ? List.of() : List.copyOf(delivered);
  }

  public NodeOutcomes(String frame, List<Outcome> outcomes) {
    this(frame, outcomes, List.of());
  }

  /// These targets in the form of `delivered`.
  public static List<Integer> runs(BitSet targets) {
    List<Integer> runs = new ArrayList<>();
    for (int from = targets.nextSetBit(0); from >= 0; ) {
      int end = targets.nextClearBit(from);
      runs.add(from);
      runs.add(end - 1);
      from = targets.nextSetBit(end);
    }
    return runs;
  }

  /// Every outcome, also those of the runs.
  public List<Outcome> each() {
    if (delivered.isEmpty()) {
      return outcomes;
    }
    List<Outcome> each = new ArrayList<>(outcomes);
    for (int run = 0; run + 1 < delivered.size(); run += 2) {
      int last = Math.min(delivered.get(run + 1), NodeBroadcast.MAX_DEVICES - 1);
      for (int target = delivered.get(run); target <= last; target++) {
        each.add(new Outcome(target, Result.DELIVERED, null));
      }
    }
    return each;
  }

  /// @param target index into the frame's targets
  /// @param reason for `refused` the word of a [Refusal], for `not_here` possibly [#NOT_SUBSCRIBED]
  /// @param detail an explanation for people, if there is one
  /// @param epoch of the session that answers; null without a session
  /// @param acknowledgedAt for `delivered` the time of the acknowledgement, if the node has
  ///     published its event itself because the gateway may no longer be waiting
  public record Outcome(
      int target,
      Result result,
      @Nullable String reason,
      @Nullable String detail,
      @Nullable Long epoch,
      @Nullable Instant acknowledgedAt) {
    public Outcome(int target, Result result, @Nullable String reason) {
      this(target, result, reason, null, null, null);
    }

    /// @param acknowledgedAt null for an acknowledgement in time
    public static Outcome delivered(int target, long epoch, @Nullable Instant acknowledgedAt) {
      return new Outcome(target, Result.DELIVERED, null, null, epoch, acknowledgedAt);
    }

    public static Outcome refused(int target, Refusal refusal, @Nullable String detail) {
      return new Outcome(target, Result.REFUSED, refusal.word(), detail, null, null);
    }
  }

  public enum Result {
    /// The device acknowledged it.
    @JsonProperty("delivered")
    DELIVERED,
    /// This node has no session of the device, or the device is not subscribed.
    @JsonProperty("not_here")
    NOT_HERE,
    /// The device did not acknowledge in time; it may still have it.
    @JsonProperty("timeout")
    TIMEOUT,
    /// The device did not take it, or the node cannot send it at present: see [Refusal].
    @JsonProperty("refused")
    REFUSED
  }
}
