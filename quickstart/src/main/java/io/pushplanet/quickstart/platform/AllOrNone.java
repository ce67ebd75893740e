package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ProcessFailed;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Starts programs side by side. If one of them fails, the others are useless: their starts are
/// cancelled at once.
final class AllOrNone {
  private static final int PAUSE_MILLIS = 500;

  private AllOrNone() {}

  /// @param start blocks until the program is ready; ends early when interrupted
  /// @param meanwhile runs in this thread twice a second; cancels the starts if it fails
  /// @throws RuntimeException of the first start that fails, or of `meanwhile`
  static void start(List<Program> programs, Consumer<Program> start, Runnable meanwhile) {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      var starts = new ExecutorCompletionService<@Nullable Void>(executor);
      programs.forEach(program -> starts.submit(() -> start.accept(program), null));
      try {
        int open = programs.size();
        while (open > 0) {
          Future<@Nullable Void> ended = starts.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
          if (ended == null) {
            meanwhile.run();
          } else {
            ended.get();
            open--;
          }
        }
      } catch (ExecutionException e) {
        executor.shutdownNow();
        throw unwrapped(e);
      } catch (InterruptedException e) {
        executor.shutdownNow();
        Thread.currentThread().interrupt();
        throw new ProcessFailed("interrupted", e);
      } catch (RuntimeException e) {
        executor.shutdownNow();
        throw e;
      }
    }
  }

  static RuntimeException unwrapped(ExecutionException e) {
    return e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
  }
}
