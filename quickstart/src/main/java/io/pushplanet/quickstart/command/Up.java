package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.AddressFile;
import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.BuiltPrograms;
import io.pushplanet.quickstart.platform.OnDeath;
import io.pushplanet.quickstart.platform.OwnerOnlyFile;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.StateLock;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// `./pushplanet up`: starts the platform, prints its addresses, and stays until ctrl-C, `down` or
/// the death of a process.
final class Up {
  private static final Duration LOOK = Duration.ofMillis(500);

  private Up() {}

  static ExitCode run(Path root, List<String> arguments) {
    UpOptions options = UpOptions.parse(root, arguments, System.getenv());
    return options.detach()
        ? Detached.run(options.plan(), arguments)
        : new Foreground(options).run();
  }

  private static final class Foreground {
    private final UpOptions options;
    private final CountDownLatch stopAsked = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final long startNanos = System.nanoTime();

    Foreground(UpOptions options) {
      this.options = options;
    }

    // The started programs are stopped in good order, which nothing may interrupt.
    private volatile boolean started;

    ExitCode run() {
      Thread starter = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(starter), "stop"));
      try (Platform platform = Platform.start(options.plan(), options.onDeath(), this::tell)) {
        tell("ready");
        System.out.println(
            Welcome.text(platform.addresses(), options.plan().root(), options.plan().state()));
        started = true;
        ExitCode code = watchAndTrain(platform);
        tell("stopping");
        return code;
      } finally {
        stopped.countDown();
      }
    }

    /// Runs while the JVM ends: on ctrl-C and on SIGTERM, and also after an ordinary end, when
    /// there is nothing to do.
    private void stop(Thread starter) {
      stopAsked.countDown();
      try {
        if (stopped.await(100, TimeUnit.MILLISECONDS)) {
          return;
        }
        // While the platform is still starting, the start must be cancelled.
        if (!started) {
          starter.interrupt();
        }
        if (!stopped.await(options.plan().stopsWithin().toSeconds(), TimeUnit.SECONDS)) {
          System.err.println("pushplanet: not everything has stopped in time; the rest is killed");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private ExitCode watchAndTrain(Platform platform) {
      if (!options.train()) {
        return watch(platform);
      }
      Thread trainer = Thread.ofVirtual().name("trainer").start(() -> train(platform));
      try {
        return watch(platform);
      } finally {
        trainer.interrupt();
        awaitEnd(trainer);
      }
    }

    private void train(Platform platform) {
      try {
        platform.train();
      } catch (RuntimeException e) {
        // Without caches the platform works as well, but starts more slowly.
        if (!Thread.currentThread().isInterrupted()) {
          tell("the classes are not learnt, so the next start takes as long: " + e.getMessage());
        }
      }
    }

    private static void awaitEnd(Thread trainer) {
      try {
        trainer.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private ExitCode watch(Platform platform) {
      while (!awaitStop()) {
        try {
          platform.look();
        } catch (ProcessFailed e) {
          System.err.println(
              PushPlanet.COMPLAINT
                  + "%s, so everything is stopped%s"
                      .formatted(
                          e.getMessage(),
                          options.onDeath() == OnDeath.RESTART
                              ? ""
                              : " (up --on-death=restart starts again what dies)"));
          return ExitCode.SERVICE_FAILED;
        }
      }
      return ExitCode.OK;
    }

    private boolean awaitStop() {
      try {
        return stopAsked.await(LOOK.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        return true;
      }
    }

    private synchronized void tell(String line) {
      System.out.printf("[%5.1f s] %s%n", (System.nanoTime() - startNanos) / 1e9, line);
    }
  }

  /// `up --detach`: starts a supervisor in a session of its own, and waits until it is ready.
  private static final class Detached {
    private Detached() {}

    static ExitCode run(Plan plan, List<String> arguments) {
      try (var _ = StateLock.takeToStart(plan.state())) {
        return start(plan, arguments);
      }
    }

    private static ExitCode start(Plan plan, List<String> arguments) {
      Path log = SupervisorLog.in(plan.state());
      Process supervisor =
          supervisor(
              plan.root(),
              log,
              arguments.stream().filter(word -> !word.equals("--detach")).toList());
      var ready = new AtomicBoolean();
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> stop(supervisor, ready, plan.stopsWithin()), "stop"));
      var printer = new LogPrinter(log);
      while (true) {
        printer.printNew();
        Optional<Addresses> addresses = AddressFile.read(plan.state());
        if (!supervisor.isAlive()) {
          printer.printNew();
          return exitCodeOf(supervisor.exitValue());
        }
        if (addresses.isPresent() && printer.hasSeen(Welcome.END)) {
          ready.set(true);
          return ExitCode.OK;
        }
        pause(supervisor);
      }
    }

    /// Runs while the JVM ends. Ctrl-C does not reach the supervisor's session.
    private static void stop(Process supervisor, AtomicBoolean ready, Duration within) {
      if (ready.get() || !supervisor.isAlive()) {
        return;
      }
      System.err.println(PushPlanet.COMPLAINT + "interrupted, so what has started is stopped");
      supervisor.destroy();
      try {
        supervisor.waitFor(within.toSeconds(), TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static Process supervisor(Path root, Path log, List<String> arguments) {
      var command =
          new ArrayList<>(
              List.of(
                  BuiltPrograms.java(),
                  "-XX:+UseSerialGC",
                  "-Xmx256m",
                  "-XX:TieredStopAtLevel=1",
                  "--sun-misc-unsafe-memory-access=allow"));
      if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
        command.addFirst("/usr/bin/setsid");
      }
      command.addAll(
          List.of(
              "-Dpushplanet.root=" + root,
              "-cp",
              System.getProperty("java.class.path"),
              PushPlanet.class.getName(),
              "up"));
      command.addAll(arguments);
      try {
        // It contains the welcome with the operator's password and the API key.
        OwnerOnlyFile.write(log, "");
        return new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
      } catch (IOException e) {
        throw new UncheckedIOException("the supervisor cannot be started", e);
      }
    }

    private static void pause(Process supervisor) {
      try {
        supervisor.waitFor(200, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ProcessFailed("the start was interrupted", e);
      }
    }

    private static ExitCode exitCodeOf(int code) {
      for (ExitCode known : ExitCode.values()) {
        if (known.code() == code && code != 0) {
          return known;
        }
      }
      return ExitCode.FAILED;
    }
  }
}
