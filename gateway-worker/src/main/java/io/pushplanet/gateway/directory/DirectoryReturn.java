package io.pushplanet.gateway.directory;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;

/// Brings the messages that wait for the session directory back to their lanes once it answers, in
/// the order in which they were accepted. Until then they wait for up to a minute between two
/// tries, because an outage may leave many of them: if each came back every few seconds, the rows
/// that are claimed, deleted and written again would slow all other messages down.
///
/// The directory is back when it answers, knows a node, and no look-up has failed since the round
/// before. While it answers only some look-ups, messages keep their pauses, and do not add to its
/// load.
///
/// Each worker brings back what waits, whichever worker put it off, and also after its own start:
/// the worker that put it off may be gone. Not thread-safe: rounds follow one another.
public final class DirectoryReturn {
  /// From one round to the next. Once the messages are back, rounds ask nobody.
  public static final Duration EVERY = Duration.ofMillis(500);

  /// In the last of so many rounds messages are brought back once more: a batch whose look-up
  /// failed may write its messages some seconds after the directory came back.
  private static final int ROUNDS = 10;

  private static final List<String> LANES =
      List.of(
          Topology.lane(Channel.MQTT, Priority.HIGH), Topology.lane(Channel.MQTT, Priority.NORMAL));

  private final SessionDirectory directory;
  private final DirectoryHealth health;
  private final LaterStore later;
  private final Collection<String> reasons;
  private final Clock clock;
  private long failuresBefore;
  private int roundsSinceReturn;

  /// @param reasons for which messages in `later` wait for the directory
  public DirectoryReturn(
      SessionDirectory directory,
      DirectoryHealth health,
      LaterStore later,
      Collection<String> reasons,
      Clock clock) {
    this.directory = directory;
    this.health = health;
    this.later = later;
    this.reasons = List.copyOf(reasons);
    this.clock = clock;
  }

  /// One round; to be called every [#EVERY].
  ///
  /// @throws org.springframework.dao.DataAccessException while MySQL is away: call again
  public void round() {
    long failures = health.failures();
    if (failures != failuresBefore) {
      failuresBefore = failures;
      roundsSinceReturn = 0;
      return;
    }
    if (roundsSinceReturn == ROUNDS || !isBack()) {
      return;
    }
    if (roundsSinceReturn == 0 || roundsSinceReturn == ROUNDS - 1) {
      bringBack();
    }
    roundsSinceReturn++;
  }

  /// After an outage that was longer than the nodes' leases run, the directory knows no node until
  /// they have renewed them: messages would be parked instead of sent.
  private boolean isBack() {
    try {
      boolean knowsNodes = !directory.nodes().isEmpty();
      health.answered();
      return knowsNodes;
    } catch (RedisUnavailable away) {
      return false;
    }
  }

  private void bringBack() {
    Instant now = clock.instant();
    for (String lane : LANES) {
      for (String reason : reasons) {
        for (AppId app : later.waiting(lane, reason)) {
          later.bringForwardInOrder(app, lane, reason, now);
        }
      }
    }
  }
}
