package io.pushplanet.load.measure;

import io.pushplanet.load.node.AdmissionLook.Seen;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// How a node admitted the devices of one or more storms, from looks at it. Not thread-safe.
///
/// A device that has not reached the line before the listener does not count as waiting: its kernel
/// or its client pauses after a try that found the line full, and the node cannot admit it
/// meanwhile.
public final class Admissions {
  private static final double SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private double mostInASecond;
  private long admittedFromLine;
  private long lineNanos;
  private long emptyNanos;
  private long allNanos;

  /// Adds the looks at one storm, in their order.
  public void add(List<Seen> looks) {
    mostInASecond = Math.max(mostInASecond, mostInASecond(looks));
    for (int look = 0; look + 1 < looks.size(); look++) {
      Seen now = looks.get(look);
      Seen next = looks.get(look + 1);
      long admitted = next.admitted() - now.admitted();
      long nanos = next.answeredNanos() - now.answeredNanos();
      allNanos += nanos;
      if (now.waiting() > admitted) {
        admittedFromLine += admitted;
        lineNanos += nanos;
      }
      if (now.waiting() == 0 && next.waiting() == 0) {
        emptyNanos += nanos;
      }
    }
  }

  /// The rate of the busiest second. A look's count is of an unknown moment between question and
  /// answer, so each second is taken as long as it may have been: the figure is never too high.
  private static double mostInASecond(List<Seen> looks) {
    double most = 0;
    for (int from = 0; from < looks.size(); from++) {
      for (int to = from + 1; to < looks.size(); to++) {
        double nanos = looks.get(to).answeredNanos() - looks.get(from).askedNanos();
        long admitted = looks.get(to).admitted() - looks.get(from).admitted();
        // A storm that is shorter than a second has all its devices in one.
        most = Math.max(most, admitted * SECOND_NANOS / Math.max(nanos, SECOND_NANOS));
        if (nanos >= SECOND_NANOS) {
          break;
        }
      }
    }
    return most;
  }

  /// Devices admitted in any one second, at most.
  public double mostInASecond() {
    return mostInASecond;
  }

  /// The part of this rate that the node kept while more devices waited in its line than it
  /// admitted until the next look; 0 if that never was so.
  ///
  /// @param perSecond the rate that is set
  public double share(int perSecond) {
    return lineNanos == 0 ? 0 : admittedFromLine * SECOND_NANOS / lineNanos / perSecond;
  }

  /// For how long more devices waited in the line than the node admitted.
  public double lineSeconds() {
    return lineNanos / SECOND_NANOS;
  }

  /// For how long nobody waited in the line.
  public double emptySeconds() {
    return emptyNanos / SECOND_NANOS;
  }

  /// How long the storms were.
  public double seconds() {
    return allNanos / SECOND_NANOS;
  }
}
