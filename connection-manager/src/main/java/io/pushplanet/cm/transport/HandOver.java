package io.pushplanet.cm.transport;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What another thread has to tell about many devices: each loop is woken once and hears all of its own in one task. For one
/// thread.
public final class HandOver {
  private static final Logger LOG = LoggerFactory.getLogger(HandOver.class);

  private final Map<Loop, List<Runnable>> told = new LinkedHashMap<>();

  public void add(Loop loop, Runnable what) {
    told.computeIfAbsent(loop, _ -> new ArrayList<>()).add(what);
  }

  /// Once, when all is added.
  public void go() {
    told.forEach((loop, all) -> loop.execute(() -> all.forEach(HandOver::guarded)));
  }

  /// What goes wrong for one device must not take its neighbours' answers away.
  private static void guarded(Runnable what) {
    try {
      what.run();
    } catch (RuntimeException | Error bug) {
      LOG.error("event=hand_over_error", bug);
    }
  }
}
