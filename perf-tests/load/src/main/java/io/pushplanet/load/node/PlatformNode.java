package io.pushplanet.load.node;

import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.services.Port;
import java.net.InetSocketAddress;
import java.util.Map;

/// One of several connection managers of a platform.
public final class PlatformNode extends PlatformProcess {
  private final String id;
  private final int mqttPort;

  public PlatformNode(Platform platform, String id) {
    this(platform, id, Port.free());
  }

  private PlatformNode(Platform platform, String id, int mqttPort) {
    super(
        platform,
        Program.CONNECTION_MANAGER,
        id,
        Map.of(
            "cm.node-id",
            id,
            "cm.mqtt-port",
            Integer.toString(mqttPort),
            "cm.tls-port",
            "0",
            "cm.gateway-port",
            Integer.toString(Port.free())));
    this.id = id;
    this.mqttPort = mqttPort;
  }

  public String id() {
    return id;
  }

  public InetSocketAddress mqtt() {
    return new InetSocketAddress("127.0.0.1", mqttPort);
  }
}
