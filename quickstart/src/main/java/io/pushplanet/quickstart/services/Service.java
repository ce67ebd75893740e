package io.pushplanet.quickstart.services;

/// The three services that everything stands on.
public enum Service {
  MYSQL,
  REDIS,
  AMQP
}
