package io.pushplanet.cm.node;

import io.pushplanet.cm.directory.Registrar;
import java.util.function.IntSupplier;
import org.springframework.context.SmartLifecycle;

/// Starts the node after all beans that it needs, and stops it before them.
final class NodeLifecycle implements SmartLifecycle {
  private final Node node;
  private final Registrar registrar;
  private final IntSupplier managementPort;
  private volatile boolean running;

  NodeLifecycle(Node node, Registrar registrar, IntSupplier managementPort) {
    this.node = node;
    this.registrar = registrar;
    this.managementPort = managementPort;
  }

  @Override
  public void start() {
    registrar.start();
    node.start(managementPort);
    running = true;
  }

  @Override
  public void stop() {
    node.stop();
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /// Starts after the web server, whose port the lease contains, and so stops before it.
  @Override
  public int getPhase() {
    return Integer.MAX_VALUE;
  }
}
