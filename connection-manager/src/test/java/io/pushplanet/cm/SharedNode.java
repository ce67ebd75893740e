package io.pushplanet.cm;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/// One node and one gateway for all test classes that take it as a constructor argument; closed
/// after the last of them.
record SharedNode(TestNode node, TestGateway gateway) implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(60);

  /// Passes the node to `@ExtendWith(SharedNode.Resolver.class)` classes.
  static final class Resolver implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == SharedNode.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context
          .getRoot()
          .getStore(ExtensionContext.Namespace.create(SharedNode.class))
          .computeIfAbsent("node", _ -> start(), SharedNode.class);
    }

    private static SharedNode start() {
      var node = TestNode.start();
      try {
        return new SharedNode(node, new TestGateway(node, "gw-shared"));
      } catch (Exception noGateway) {
        node.close();
        throw new IllegalStateException(noGateway);
      }
    }
  }

  @Override
  public void close() throws MqttException {
    gateway.close();
    node.close();
  }

  /// A socket that has sent nothing yet.
  RawClient raw(MqttVersion version) throws Exception {
    return new RawClient(node.port("mqtt"), version);
  }

  RawClient connected(DeviceKey device, MqttVersion version) throws Exception {
    return connected(RawClient.connect(version, device));
  }

  RawClient connected(MqttPacket.Connect connect) throws Exception {
    return RawClient.connected(node.port("mqtt"), connect);
  }

  RawClient subscribed(DeviceKey device, MqttVersion version) throws Exception {
    return RawClient.subscribed(node.port("mqtt"), RawClient.connect(version, device));
  }

  /// A CONNECT whose session outlives the connection.
  static MqttPacket.Connect persistent(DeviceKey device, MqttVersion version) {
    return RawClient.connect(
        version,
        device,
        false,
        version == MqttVersion.V5
            ? MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600)
            : MqttProperties.NONE);
  }

  /// The reason that an MQTT 5 client is told before the server closes; [ReasonCode#SUCCESS] when
  /// it closes without a packet, as it must for a 3.1.1 client.
  static ReasonCode end(RawClient client) throws Exception {
    var last = client.next();
    if (last.isEmpty()) {
      return ReasonCode.SUCCESS;
    }
    if (last.get() instanceof MqttPacket.Disconnect(var reason, _) && client.next().isEmpty()) {
      return reason;
    }
    throw new AssertionError("not the end: " + last);
  }

  /// Asserts that no message is on its way to this client: the next packet is the answer to a ping.
  static void silent(RawClient client) throws Exception {
    client.send(new MqttPacket.PingReq()).expect(MqttPacket.PingResp.class);
  }

  static void acknowledge(RawClient client, MqttPacket.Publish publish) throws Exception {
    client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
  }

  /// Sends DISCONNECT and waits until the node has ended the session.
  void leave(RawClient client, DeviceKey device) throws Exception {
    client.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
    client.drainToEnd();
    client.close();
    awaitGone(device);
  }

  void awaitGone(DeviceKey device) {
    Eventually.within(
        PATIENCE,
        () -> {
          if (node.bean(SessionDirectory.class).owner(device).isPresent()) {
            throw new AssertionError("still in the directory");
          }
        });
  }

  /// The uplinks of this device up to now: those before an uplink that another device sends.
  List<String> uplinksOf(DeviceKey device) throws Exception {
    return uplinkEventsOf(device).stream()
        .map(uplink -> new Binary(uplink.payload()).utf8())
        .toList();
  }

  /// As [#uplinksOf], with all that an app's backend is told.
  List<DeliveryEvent.Uplink> uplinkEventsOf(DeviceKey device) throws Exception {
    var marker = UUID.randomUUID().toString();
    try (var other = connected(TestNode.newDevice(), MqttVersion.V5)) {
      other.publish("push/uplink", marker, QoS.AT_LEAST_ONCE, false);
      other.expect(MqttPacket.PubAck.class);
    }
    var found = new ArrayList<DeliveryEvent.Uplink>();
    var seen = new ArrayList<String>();
    Eventually.within(
        PATIENCE,
        () -> {
          for (var event : node.events()) {
            if (event instanceof DeliveryEvent.Uplink uplink) {
              seen.add(new Binary(uplink.payload()).utf8());
              if (uplink.device().equals(device.device())) {
                found.add(uplink);
              }
            }
          }
          if (!seen.contains(marker)) {
            throw new AssertionError("the marker has not come");
          }
        });
    return found;
  }
}
