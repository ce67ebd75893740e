package io.pushplanet.gateway.node;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.paho.mqttv5.client.MqttPingSender;
import org.eclipse.paho.mqttv5.client.internal.ClientComms;
import org.jspecify.annotations.Nullable;

/// Makes Paho check a connection whenever a ping is due, by a clock that is never set. Paho's own
/// [java.util.Timer] follows the machine's clock: when that is put back, no ping leaves until it
/// has caught up ([paho.mqtt.java#958](https://github.com/eclipse-paho/paho.mqtt.java/issues/958)),
/// and the node closes the connection. Thread-safe; for one connection.
final class SteadyPings implements MqttPingSender {
  private volatile @Nullable ClientComms connection;
  private volatile boolean running;

  @Override
  public void init(ClientComms comms) {
    connection = comms;
  }

  @Override
  public void start() {
    var comms = connection;
    if (comms != null) {
      running = true;
      schedule(comms.getKeepAlive());
    }
  }

  @Override
  public void stop() {
    running = false;
  }

  @Override
  public void schedule(long delayMillis) {
    CompletableFuture.delayedExecutor(delayMillis, TimeUnit.MILLISECONDS).execute(this::look);
  }

  /// Sends a ping where one is due, and schedules the next check.
  private void look() {
    var comms = connection;
    if (running && comms != null) {
      comms.checkForActivity();
    }
  }
}
