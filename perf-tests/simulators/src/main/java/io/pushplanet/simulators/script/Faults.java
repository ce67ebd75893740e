package io.pushplanet.simulators.script;

import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.SimulatorServer;
import io.pushplanet.simulators.tls.Authority;
import io.pushplanet.simulators.tls.ServerFace;

/// Applies a [Fate] to a request to one simulator, and holds the number of streams that it allows.
/// Thread-safe.
public final class Faults {
  private static final long INTERNAL_ERROR = 0x2;
  private static final long REFUSED_STREAM = 0x7;

  private final Authority authority;
  private volatile int streams;

  /// @param streams of a connection, until a fate changes it
  public Faults(Authority authority, int streams) {
    this.authority = authority;
    this.streams = streams;
  }

  /// A request that broke no rule, as its provider answers and records it.
  public interface Attempt {
    /// Answers well, and enters that in the ledger.
    Reaction.Answer accepted();

    /// Answers with the fate's status and reason, and enters that in the ledger.
    Reaction.Answer refused(Fate fate);

    /// Enters a request without such an answer in the ledger.
    void record(int status, String reason, boolean delivered);

    /// The debug data of a GOAWAY.
    default String farewell(Fate fate) {
      return "";
    }
  }

  /// How many streams a connection may have.
  public int streams() {
    return streams;
  }

  /// Applies the fate.
  public Reaction met(Fate fate, Attempt attempt, SimulatorServer server) {
    return switch (fate.action()) {
      case ANSWER -> answered(fate, attempt).after(fate.delay());
      case TRICKLE -> new Reaction.Trickle(answered(fate, attempt), fate.delay());
      case HTML -> {
        int status = fate.status() == 0 ? 502 : fate.status();
        attempt.record(status, "html", fate.delivered());
        yield Reaction.Answer.of(
                status, "text/html", "<html><title>Error " + status + "</title></html>")
            .after(fate.delay());
      }
      case SILENCE -> {
        attempt.record(0, "silence", fate.delivered());
        yield new Reaction.Silence();
      }
      case RESET -> {
        attempt.record(0, "reset", fate.delivered());
        yield new Reaction.Reset(INTERNAL_ERROR);
      }
      case REFUSE -> {
        attempt.record(0, "refused_stream", false);
        yield new Reaction.Reset(REFUSED_STREAM);
      }
      case DROP -> {
        attempt.record(0, "drop", fate.delivered());
        yield new Reaction.Drop();
      }
      case GOAWAY -> new Reaction.GoAway(attempt.accepted(), attempt.farewell(fate));
      case STREAMS -> {
        streams = fate.newStreams();
        yield attempt.accepted();
      }
      case CERTIFICATE -> {
        server.present(authority.server(ServerFace.of(fate.reason())));
        yield attempt.accepted();
      }
    };
  }

  private static Reaction.Answer answered(Fate fate, Attempt attempt) {
    return fate.status() == 0 || fate.status() / 100 == 2
        ? attempt.accepted()
        : attempt.refused(fate);
  }
}
