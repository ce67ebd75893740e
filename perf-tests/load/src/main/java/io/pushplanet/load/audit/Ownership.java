package io.pushplanet.load.audit;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.fleet.Stay;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Checks that each device had one owner at a time: compares the messages on its connections with
/// the epochs under which nodes claimed it.
///
/// The order of two connections is known where the directory published a claim of each, or where
/// one ended before the claim of the other could begin. Otherwise only their messages tell: all
/// messages of one must come before all messages of the other.
///
/// @param afterClaim connections that got a message after a newer one was claimed, by milliseconds;
///     the former node learns of the claim meanwhile
/// @param afterDelivery connections that got a message after a newer one had got one, or both
///     before and after another one did, by milliseconds
/// @param pairs of overlapping connections of one device that were compared
/// @param unordered overlapping pairs without a known order
/// @param telling pairs of both kinds with enough messages to show a delivery after the newer
///     one's, if there was one
public record Ownership(
    List<Long> afterClaim, List<Long> afterDelivery, long pairs, long unordered, long telling) {
  /// A claim is made between CONNECT and CONNACK; clocks are read in whole milliseconds.
  private static final long TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  public Ownership {
    afterClaim = List.copyOf(afterClaim);
    afterDelivery = List.copyOf(afterDelivery);
  }

  /// When a connection was claimed: the exact time, or a range.
  private record Tenure(Stay stay, long from, long to) {}

  /// @param millisToNanos added to an epoch, in nanoseconds, gives it in the time of the stays
  public static Ownership of(List<Stay> stays, List<Claim> claims, long millisToNanos) {
    Map<DeviceId, List<Stay>> staysOf = new HashMap<>();
    stays.forEach(stay -> staysOf.computeIfAbsent(stay.device(), _ -> new ArrayList<>()).add(stay));
    Map<DeviceId, List<Claim>> claimsOf = new HashMap<>();
    claims.forEach(
        claim -> claimsOf.computeIfAbsent(claim.device(), _ -> new ArrayList<>()).add(claim));
    List<Long> afterClaim = new ArrayList<>();
    List<Long> afterDelivery = new ArrayList<>();
    long pairs = 0;
    long unordered = 0;
    long unorderedTelling = 0;
    long orderedTelling = 0;
    for (var device : staysOf.entrySet()) {
      List<Tenure> tenures =
          device.getValue().stream()
              .map(stay ->
                  tenure(stay, claimsOf.getOrDefault(device.getKey(), List.of()), millisToNanos))
              .toList();
      for (Tenure former : tenures) {
        long worst = 0;
        long worstDelivery = 0;
        for (Tenure newer : tenures) {
          boolean apart = former.stay.lastNanos() <= newer.stay.beganNanos();
          if (newer.equals(former) || former.stay.messages() == 0 || apart) {
            continue;
          }
          if (newer.to < former.from) {
            continue;
          }
          if (newer.from <= former.to) {
            unordered++;
            unorderedTelling += shows(former.stay, newer.stay) ? 1 : 0;
            worstDelivery = Math.max(worstDelivery, interleaved(former.stay, newer.stay));
            continue;
          }
          pairs++;
          worst = Math.max(worst, former.stay.lastNanos() - newer.from);
          if (newer.stay.messages() > 0) {
            orderedTelling++;
            worstDelivery =
                Math.max(worstDelivery, former.stay.lastNanos() - newer.stay.firstNanos());
          }
        }
        if (worst > TOLERANCE_NANOS) {
          afterClaim.add(TimeUnit.NANOSECONDS.toMillis(worst));
        }
        if (worstDelivery > 0) {
          afterDelivery.add(TimeUnit.NANOSECONDS.toMillis(worstDelivery));
        }
      }
    }
    return new Ownership(
        afterClaim, afterDelivery, pairs, unordered / 2, orderedTelling + unorderedTelling / 2);
  }

  /// When each of two connections got messages in one turn, in either order, either may be the
  /// newer one.
  private static boolean shows(Stay one, Stay other) {
    return one.messages() > 0 && other.messages() > 0 && one.messages() + other.messages() > 2;
  }

  /// For how long the first connection got messages after the other had got one, although it had
  /// also got some before; 0 where they took turns once. Messages read in one turn of the fleet
  /// have no order.
  private static long interleaved(Stay first, Stay other) {
    boolean before = first.firstNanos() < other.firstNanos();
    return before && other.messages() > 0 ? first.lastNanos() - other.firstNanos() : 0;
  }

  private static Tenure tenure(Stay stay, List<Claim> claims, long millisToNanos) {
    for (Claim claim : claims) {
      long at = TimeUnit.MILLISECONDS.toNanos(claim.epochMillis()) + millisToNanos;
      if (claim.node() == stay.node()
          && at >= stay.beganNanos() - TOLERANCE_NANOS
          && at <= stay.welcomedNanos() + TOLERANCE_NANOS) {
        return new Tenure(stay, at, at);
      }
    }
    return new Tenure(stay, stay.beganNanos(), stay.welcomedNanos());
  }

  /// The longest of these, in milliseconds; 0 for none.
  public static long worst(List<Long> millis) {
    return millis.stream().mapToLong(Long::longValue).max().orElse(0);
  }
}
