package io.pushplanet.quickstart.services;

/// The ports on which services are started; 0 means any free one.
public record ServicePorts(int mysql, int redis, int amqp) {

  int of(Service service) {
    return switch (service) {
      case MYSQL -> mysql;
      case REDIS -> redis;
      case AMQP -> amqp;
    };
  }
}
