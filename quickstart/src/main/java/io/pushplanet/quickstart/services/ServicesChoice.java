package io.pushplanet.quickstart.services;

import java.util.Locale;

/// The source of MySQL, Redis and the AMQP broker.
public enum ServicesChoice {
  /// Each server installed if its program is on this machine, else embedded.
  AUTO,
  /// All from Maven artifacts: MariaDB, Redis, Qpid Broker-J.
  EMBEDDED,
  /// Private instances of the programs on this machine: MariaDB, Redis, RabbitMQ.
  INSTALLED,
  /// Servers that already run, at given addresses.
  EXTERNAL;

  /// The environment variable with the default choice.
  public static final String VARIABLE = "PUSHPLANET_SERVICES";

  public static ServicesChoice parse(String text) {
    for (ServicesChoice choice : values()) {
      if (choice.text().equals(text)) {
        return choice;
      }
    }
    throw new IllegalArgumentException(
        "services is '" + text + "', but must be one of auto, embedded, installed, external");
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
