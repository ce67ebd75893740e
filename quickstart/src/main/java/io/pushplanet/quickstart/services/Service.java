package io.pushplanet.quickstart.services;

/// The three services that all programs need.
public enum Service {
  MYSQL,
  REDIS,
  AMQP
}
