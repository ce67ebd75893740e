package io.pushplanet.cm.transport;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tasks of one thread for many devices, gathered so that each loop is woken once and runs all of
/// its tasks in one turn. For use by one thread.
public final class LoopTasks {
  private static final Logger LOG = LoggerFactory.getLogger(LoopTasks.class);

  private final Map<Loop, List<Runnable>> byLoop = new LinkedHashMap<>();

  public void add(Loop loop, Runnable task) {
    byLoop.computeIfAbsent(loop, _ -> new ArrayList<>()).add(task);
  }

  /// Hands the tasks to their loops. Called once, after the last [#add].
  public void go() {
    byLoop.forEach((loop, tasks) -> loop.execute(() -> tasks.forEach(LoopTasks::run)));
  }

  /// A fault in one device's task must not stop the tasks of the others.
  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error bug) {
      LOG.error("event=hand_over_error", bug);
    }
  }
}
