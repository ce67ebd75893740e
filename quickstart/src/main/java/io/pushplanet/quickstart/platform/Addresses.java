package io.pushplanet.quickstart.platform;

/// The addresses and logins of a running platform: the content of `quickstart.json`.
///
/// @param listenAddress of the dispatcher, the dashboard and MQTT; everything else is for this
///     machine alone
/// @param networkHost the host by which other machines reach these; empty when they do not
/// @param stopsWithinSeconds the longest time that an orderly stop takes
/// @param operatorUser the dashboard's first operator
/// @param simulatorsUrl management of the provider simulators: their ledger and scripts
/// @param services which programs stand in for MySQL, Redis and RabbitMQ, for people
/// @param pids process ids, for fault tests
public record Addresses(
    String dispatcherUrl,
    String dashboardUrl,
    String mqttHost,
    int mqttPort,
    int mqttTlsPort,
    String listenAddress,
    String networkHost,
    long stopsWithinSeconds,
    String app,
    String apiKey,
    String operatorUser,
    String operatorPassword,
    String dispatcherManagementUrl,
    String dashboardManagementUrl,
    String workerManagementUrl,
    String cmManagementUrl,
    String simulatorsUrl,
    String apnsUrl,
    String apnsSandboxUrl,
    String fcmUrl,
    String hmsUrl,
    String webpushUrl,
    String simulatorsCa,
    String mysqlUrl,
    String mysqlUser,
    String mysqlPassword,
    String redisUri,
    String amqpUri,
    Services services,
    Pids pids) {

  public String managementUrlOf(Program program) {
    return switch (program) {
      case DISPATCHER -> dispatcherManagementUrl;
      case WORKER -> workerManagementUrl;
      case CONNECTION_MANAGER -> cmManagementUrl;
      case DASHBOARD -> dashboardManagementUrl;
      case SIMULATORS -> simulatorsUrl;
    };
  }

  /// Which program each service is, for people.
  public record Services(String mysql, String redis, String amqp) {}

  /// Process ids of the platform's programs; 0 for a service that runs elsewhere.
  public record Pids(
      long dispatcherApi,
      long gatewayWorker,
      long connectionManager,
      long dashboard,
      long simulators,
      long mysql,
      long redis,
      long amqp) {}

  @Override
  public String toString() {
    return "Addresses[" + dispatcherUrl + "]";
  }
}
