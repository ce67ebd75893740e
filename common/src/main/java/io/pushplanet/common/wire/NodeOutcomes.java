package io.pushplanet.common.wire;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a node answers on `gw/outcomes/<gateway>`: some targets of a frame, each exactly once over all answers.
public record NodeOutcomes(String frame, List<Outcome> outcomes) {
  public NodeOutcomes {
    outcomes = List.copyOf(outcomes);
  }

  /// @param target index into the frame's targets
  /// @param reason for `refused`
  /// @param epoch of the session that says so; null where there is none
  public record Outcome(int target, Result result, @Nullable String reason, @Nullable Long epoch) {
    public Outcome(int target, Result result, @Nullable String reason) {
      this(target, result, reason, null);
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
    /// It cannot be sent: too long for the device, or its queue is full.
    @JsonProperty("refused")
    REFUSED
  }
}
