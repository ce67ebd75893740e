package io.pushplanet.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.client.SendOutcome;
import io.pushplanet.load.fleet.Fleet;
import io.pushplanet.load.fleet.FleetSettings;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.services.Service;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The whole platform, with each process killed once while messages are on their way over MQTT,
/// APNs and FCM. Traffic comes in waves, so that each process dies in the middle of one.
class FaultsIT {
  private static final int MESSAGES = 12_000;
  private static final int CLIENTS = 32;
  private static final int ACCEPTED_BEFORE_A_FAULT = 400;
  private static final Duration WAVE_STARTS_WITHIN = Duration.ofSeconds(120);
  private static final Duration ALL_ACCEPTED_WITHIN = Duration.ofSeconds(180);
  private static final Duration QUIET_WITHIN = Duration.ofSeconds(240);
  private static final Path ROOT = Path.of("..", "..");

  private record Fault(String name, Runnable happen) {}

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void no_accepted_message_is_lost_when_each_process_is_killed_once() throws Exception {
    Path state = Path.of("target", "faults-" + ProcessHandle.current().pid());
    try (Platform platform = Platform.start(Plan.forTests(ROOT, state), System.out::println)) {
      Target target = Target.of(state.resolve("quickstart.json"));
      Population population =
          Population.register(
              target, "faults", Map.of(Channel.MQTT, 400, Channel.APNS, 100, Channel.FCM, 100));
      Sightings sightings = new Sightings();
      Path journalFile = state.resolve("accepted.journal");
      try (Fleet fleet =
              Fleet.start(target.mqtt(), FleetSettings.DEFAULT, sightings, new SplittableRandom());
          AcceptedJournal journal = new AcceptedJournal(journalFile)) {
        fleet.add(population.mqtt());
        assertThat(fleet.awaitReady(Duration.ofSeconds(120))).as("%s", fleet.reasons()).isTrue();

        sendThrough(faults(platform), target, population, journal);

        assertThat(fleet.awaitReady(Duration.ofSeconds(120))).as("%s", fleet.reasons()).isTrue();
        Account account =
            new Auditor(target)
                .auditWhenQuiet(
                    AcceptedJournal.read(journalFile), Optional.of(sightings), QUIET_WITHIN);
        System.out.println(fleet.counts());
        System.out.print(account.text());
        assertThat(account.messages()).isGreaterThanOrEqualTo(MESSAGES);
        assertThat(account.lost()).isEmpty();
        assertThat(account.deliversAll()).as(account.text()).isTrue();
      }
    }
    delete(state);
  }

  private static List<Fault> faults(Platform platform) {
    return List.of(
        program(platform, Program.WORKER),
        program(platform, Program.CONNECTION_MANAGER),
        service(platform, Service.REDIS),
        program(platform, Program.DISPATCHER),
        service(platform, Service.MYSQL),
        program(platform, Program.DASHBOARD),
        new Fault("FLUSHALL", () -> flushAll(platform.services().redis())),
        service(platform, Service.AMQP));
  }

  private static Fault program(Platform platform, Program program) {
    return new Fault(
        program.text(),
        () -> {
          platform.kill9(program);
          platform.restart(program);
        });
  }

  private static Fault service(Platform platform, Service service) {
    return new Fault(
        service.name(),
        () -> {
          platform.services().kill9(service);
          platform.services().restart(service);
        });
  }

  /// Sends one wave per fault; a message that a fault keeps from being accepted is sent again as
  /// another message.
  private static void sendThrough(
      List<Fault> faults, Target target, Population population, AcceptedJournal journal)
      throws InterruptedException {
    Semaphore wave = new Semaphore(0);
    AtomicBoolean done = new AtomicBoolean();
    Traffic traffic =
        new Traffic(
            target,
            journal,
            "faults",
            population.shuffled(),
            "{\"route\":\"auto\",\"ttl\":\"PT1H\"}",
            (outcome, _, _) -> {
              if (!(outcome instanceof SendOutcome.Accepted)) {
                wave.release();
              }
            });
    Thread senders =
        Thread.ofVirtual()
            .start(() ->
                traffic.run(
                    CLIENTS,
                    () -> {
                      while (!done.get()) {
                        if (wave.tryAcquire(50, TimeUnit.MILLISECONDS)) {
                          return true;
                        }
                      }
                      return false;
                    }));
    try {
      for (Fault fault : faults) {
        long before = journal.messages();
        wave.release((MESSAGES + faults.size() - 1) / faults.size());
        Eventually.within(
            WAVE_STARTS_WITHIN,
            () -> assertThat(journal.messages()).isGreaterThan(before + ACCEPTED_BEFORE_A_FAULT));
        long start = System.nanoTime();
        fault.happen().run();
        System.out.printf(
            "%-20s killed after %,6d accepted, back after %.1f s with %,6d accepted%n",
            fault.name(),
            before + ACCEPTED_BEFORE_A_FAULT,
            (System.nanoTime() - start) / 1e9,
            journal.messages());
      }
      Eventually.within(
          ALL_ACCEPTED_WITHIN,
          () ->
              assertThat(journal.messages())
                  .as("not accepted: %s", traffic.refusals())
                  .isGreaterThanOrEqualTo(MESSAGES));
      System.out.println("not accepted: " + traffic.refusals());
    } finally {
      done.set(true);
      senders.join(Duration.ofSeconds(120));
    }
  }

  private static void flushAll(URI redis) {
    try (Socket socket = new Socket(redis.getHost(), redis.getPort())) {
      socket.getOutputStream().write("FLUSHALL\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] answer = socket.getInputStream().readNBytes(3);
      assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("+OK");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// A run's files are kept only when it failed.
  private static void delete(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
