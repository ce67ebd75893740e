package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ProcessFailed;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Starts programs side by side. If one of them fails, the others are useless: their starts are
/// cancelled at once.
final class AllOrNone {
  private AllOrNone() {}

  /// @param start blocks until the program is ready; ends early when interrupted
  /// @throws RuntimeException of the first start that fails
  static void start(List<Program> programs, Consumer<Program> start) {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      var starts = new ExecutorCompletionService<@Nullable Void>(executor);
      programs.forEach(program -> starts.submit(() -> start.accept(program), null));
      try {
        for (int i = 0; i < programs.size(); i++) {
          starts.take().get();
        }
      } catch (ExecutionException e) {
        executor.shutdownNow();
        throw unwrapped(e);
      } catch (InterruptedException e) {
        executor.shutdownNow();
        Thread.currentThread().interrupt();
        throw new ProcessFailed("interrupted", e);
      }
    }
  }

  static RuntimeException unwrapped(ExecutionException e) {
    return e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
  }
}
