package io.pushplanet.load.crowd;

import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.quickstart.services.LocalServices;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.IntStream;

/// Several nodes on this machine, each with a fleet of its own, all of them in processes of their
/// own: for more sessions than a process has descriptors. A node has a small heap and only the
/// first compiler, because there are many nodes: the cost of operations is measured elsewhere. Not
/// thread-safe.
public final class Edge implements AutoCloseable {
  /// Sessions per node, with 20,000 descriptors per process.
  public static final int SESSIONS_PER_NODE = 18_750;

  private static final List<String> SMALL =
      List.of("-Xmx224m", "-Xss512k", "-XX:TieredStopAtLevel=1", "-XX:CICompilerCount=1");
  private static final Map<String, String> SETTINGS = Map.of("pushplanet.mysql.pool-size", "3");
  private static final int STARTS_AT_ONCE = 3;
  public static final int FLEETS_AT_ONCE = 4;

  private final List<Member> members;

  /// A node and its devices, by their numbers from 0.
  public record Member(ConnectionManager node, FleetProcess fleet, String prefix) {
    public List<Device> devices(int count) {
      return IntStream.range(0, count).mapToObj(n -> FleetProcess.device(prefix, n)).toList();
    }
  }

  private Edge(List<Member> members) {
    this.members = List.copyOf(members);
  }

  /// Starts this number of nodes; their fleets have no devices yet.
  public static Edge start(Path root, LocalServices services, Path directory, int nodes) {
    List<Member> started = new ArrayList<>();
    try {
      each(
          IntStream.range(0, nodes).boxed().toList(),
          STARTS_AT_ONCE,
          number -> {
            ConnectionManager node =
                ConnectionManager.start(
                    root, services, directory, "edge-" + number, SMALL, SETTINGS);
            String prefix = String.format(Locale.ROOT, "0190%04x", number);
            FleetProcess fleet =
                FleetProcess.start(node, prefix, directory.resolve("fleet-" + number + ".log"));
            Member member = new Member(node, fleet, prefix);
            synchronized (started) {
              started.add(member);
            }
            return member;
          });
      return new Edge(started);
    } catch (RuntimeException e) {
      new Edge(started).close();
      throw e;
    }
  }

  public List<Member> members() {
    return members;
  }

  /// Connects devices until every node has this number.
  ///
  /// @return how many there are in all
  public int connect(int perNode, int qos) {
    return all(member -> member.fleet().connect(perNode, qos)).stream()
        .mapToInt(Integer::intValue)
        .sum();
  }

  /// Asks all nodes the same, some at a time. Returns when the last has answered.
  public <T> List<T> all(Function<Member, T> question) {
    return each(members, FLEETS_AT_ONCE, question);
  }

  /// The state of all fleets together.
  public FleetCounts counts() {
    return all(member -> member.fleet().counts()).stream()
        .reduce(new FleetCounts(0, 0, 0, 0, 0, 0, 0), FleetCounts::plus);
  }

  private static <S, T> List<T> each(List<S> subjects, int atOnce, Function<S, T> work) {
    try (ExecutorService threads = Executors.newFixedThreadPool(atOnce)) {
      List<Future<T>> under =
          subjects.stream().map(subject -> threads.submit(() -> work.apply(subject))).toList();
      List<T> results = new ArrayList<>();
      for (Future<T> one : under) {
        results.add(one.get());
      }
      return results;
    } catch (ExecutionException e) {
      throw new IllegalStateException("one of several processes failed: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /// Ends the fleets first, then the nodes.
  @Override
  public void close() {
    members.forEach(member -> member.fleet().close());
    members.forEach(member -> member.node().process().kill9());
  }
}
