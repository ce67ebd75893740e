package io.pushplanet.quickstart.platform;

import java.nio.file.Path;

/// The files that a platform leaves in its state directory, without a platform.
public final class PretendedPlatform {
  private PretendedPlatform() {}

  /// Holds the state as a running platform does.
  public static StateLock up(Path state) {
    return StateLock.take(state);
  }

  public static void writeAddresses(Path state) {
    AddressFile.write(state, addresses());
  }

  public static Addresses addresses() {
    return addresses("");
  }

  /// @param networkHost empty for a platform that only this machine reaches
  public static Addresses addresses(String networkHost) {
    return addresses(networkHost, "secret", 4);
  }

  public static Addresses withOlderOperators() {
    return addresses("", "", 4);
  }

  public static Addresses withoutDashboard() {
    return addresses("", "secret", 0);
  }

  private static Addresses addresses(
      String networkHost, String operatorPassword, long dashboardPid) {
    return new Addresses(
        "http://127.0.0.1:8080",
        "http://127.0.0.1:8081",
        "127.0.0.1",
        1883,
        8883,
        networkHost.isEmpty() ? "127.0.0.1" : "0.0.0.0",
        networkHost,
        100,
        "demo",
        "key",
        "admin",
        operatorPassword,
        "http://127.0.0.1:9080",
        "http://127.0.0.1:9081",
        "http://127.0.0.1:9082",
        "http://127.0.0.1:9083",
        "http://127.0.0.1:2199",
        "https://localhost:1",
        "https://localhost:2",
        "https://localhost:3",
        "https://localhost:4",
        "https://localhost:5",
        "/ca.pem",
        "jdbc:mysql://127.0.0.1:3306/pushplanet",
        "u",
        "p",
        "redis://127.0.0.1:6379",
        "amqp://127.0.0.1:5672/%2f",
        new Addresses.Services("MariaDB", "Redis", "RabbitMQ"),
        new Addresses.Pids(1, 2, 3, dashboardPid, 5, 6, 7, 8));
  }
}
