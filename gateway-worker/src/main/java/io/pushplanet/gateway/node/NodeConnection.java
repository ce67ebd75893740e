package io.pushplanet.gateway.node;

import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttActionListener;
import org.eclipse.paho.mqttv5.client.MqttAsyncClient;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One Paho connection to the trusted listener of a node. Frames of many threads share it; their
/// answers come back on the connection's own topic and find their frame by its number. When the
/// connection breaks, every open frame ends at once: targets without an answer count as unanswered.
/// Thread-safe.
final class NodeConnection implements MqttCallback {
  private static final Logger LOG = LoggerFactory.getLogger(NodeConnection.class);
  static final Duration KEEP_ALIVE = Duration.ofSeconds(15);

  // Paho refuses a publish past the server's receive maximum (paho.mqtt.java#551, #993), so we wait
  // before we publish. The limit is known from CONNACK on. Paho tells a waiting thread that its
  // publish is done before it stops counting it, and tells a listener afterwards, so the listener
  // gives the permit back.
  private final Semaphore publishing = new Semaphore(0);
  private final MqttActionListener makesRoom =
      new MqttActionListener() {
        @Override
        public void onSuccess(IMqttToken done) {
          publishing.release();
        }

        @Override
        public void onFailure(IMqttToken failed, Throwable reason) {
          publishing.release();
        }
      };
  private final MqttAsyncClient client;
  private final Duration within;
  private final Map<String, PendingFrame> open = new ConcurrentHashMap<>();

  private NodeConnection(MqttAsyncClient client, Duration within) {
    this.client = client;
    this.within = within;
  }

  /// Connects, and subscribes to the answers.
  ///
  /// @param within how long the node may take for each acknowledgement
  /// @throws MqttException when it takes longer or refuses
  static NodeConnection open(
      NodeAddress node, String clientId, NodeSettings settings, Duration keepAlive, Duration within)
      throws MqttException {
    MqttAsyncClient client =
        new MqttAsyncClient(node.uri(), clientId, new MemoryPersistence(), new SteadyPings(), null);
    NodeConnection connection = new NodeConnection(client, within);
    client.setCallback(connection);
    MqttConnectionOptions options = new MqttConnectionOptions();
    options.setUserName(settings.user());
    options.setPassword(settings.password().reveal().getBytes(StandardCharsets.UTF_8));
    options.setCleanStart(true);
    options.setAutomaticReconnect(false);
    options.setConnectionTimeout((int) within.toSeconds());
    options.setKeepAliveInterval((int) keepAlive.toSeconds());
    try {
      IMqttToken connect = client.connect(options);
      connect.waitForCompletion(within.toMillis());
      connection.publishing.release(
          maxPublishing(connect.getResponseProperties().getReceiveMaximum(), settings));
      client.subscribe(NodeFrame.OUTCOMES_TOPIC + clientId, 1).waitForCompletion(within.toMillis());
      return connection;
    } catch (MqttException e) {
      connection.close();
      throw e;
    }
  }

  private static int maxPublishing(@Nullable Integer taken, NodeSettings settings) {
    return taken == null ? settings.maxPublishing() : Math.min(taken, settings.maxPublishing());
  }

  boolean isOpen() {
    return client.isConnected();
  }

  /// A publish that has left and is not acknowledged yet.
  interface Sent {
    /// @throws MqttException when the node did not acknowledge it; targets may have got it all the
    ///     same
    void awaitAcknowledgement() throws MqttException;
  }

  /// Publishes a frame; its answers go to `frame`.
  ///
  /// @param atMost how long the publish may wait for a permit
  /// @throws NodeUnreachable when earlier publishes are not acknowledged, so that there is no
  ///     permit
  /// @throws MqttException when the connection broke
  Sent send(String topic, String number, byte[] body, PendingFrame frame, Duration atMost)
      throws MqttException {
    open.put(number, frame);
    try {
      Sent sent = publish(topic, body, atMost);
      return () -> {
        sent.awaitAcknowledgement();
        if (!client.isConnected()) {
          frame.abandon();
        }
      };
    } catch (MqttException | RuntimeException | Error e) {
      open.remove(number);
      throw e;
    }
  }

  void forget(String number) {
    open.remove(number);
  }

  Sent drain(byte[] body, Duration atMost) throws MqttException {
    return publish(NodeFrame.DRAIN_TOPIC, body, atMost);
  }

  void close() {
    try {
      client.disconnectForcibly(0, 0, false);
    } catch (MqttException | RuntimeException e) {
      LOG.debug("event=node_disconnect_failed reason=\"{}\"", e.toString());
    }
    try {
      client.close(true);
    } catch (MqttException | RuntimeException e) {
      LOG.debug("event=node_close_failed reason=\"{}\"", e.toString());
    }
    abandonAll();
  }

  private Sent publish(String topic, byte[] body, Duration atMost) throws MqttException {
    try {
      if (!publishing.tryAcquire(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new NodeUnreachable("node_busy");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NodeUnreachable("interrupted");
    }
    try {
      IMqttToken token =
          client.publish(
              topic, new MqttMessage(body, 1, false, new MqttProperties()), null, makesRoom);
      return () -> token.waitForCompletion(within.toMillis());
    } catch (MqttException | RuntimeException e) {
      publishing.release();
      throw e;
    }
  }

  private void abandonAll() {
    open.values().forEach(PendingFrame::abandon);
    open.clear();
  }

  @Override
  public void messageArrived(String topic, MqttMessage message) {
    try {
      NodeOutcomes outcomes = WireForm.read(message.getPayload(), NodeOutcomes.class);
      PendingFrame frame = open.get(outcomes.frame());
      if (frame != null) {
        frame.settle(outcomes.each());
      }
    } catch (MalformedWire e) {
      LOG.warn("event=node_answer_malformed bytes={}", message.getPayload().length);
    }
  }

  @Override
  public void disconnected(MqttDisconnectResponse response) {
    abandonAll();
  }

  @Override
  public void mqttErrorOccurred(MqttException exception) {
    LOG.debug("event=node_error reason=\"{}\"", exception.toString());
  }

  @Override
  public void deliveryComplete(IMqttToken token) {}

  @Override
  public void connectComplete(boolean reconnect, String serverUri) {}

  @Override
  public void authPacketArrived(int reasonCode, MqttProperties properties) {}
}
