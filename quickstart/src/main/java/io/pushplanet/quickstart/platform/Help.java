package io.pushplanet.quickstart.platform;

/// What `./pushplanet help` prints.
final class Help {
  static final String TEXT =
      """
      Push Planet on one machine.

        ./pushplanet up        start everything and stay in the foreground; ctrl-C stops everything
        ./pushplanet down      stop everything
        ./pushplanet status    what is up, and where
        ./pushplanet demo      devices on every channel, a message to each, their timelines
        ./pushplanet send      send one message:  --device=d1 --title=Hello --body=World
        ./pushplanet bench     run a benchmark:   bench NAME [--seconds=20] [its options]; NAME is one of accept,
                               apns, broadcast, connections, end-to-end, faults, fcm, gateway, hostile, quota, storm, takeover
        ./pushplanet help      this page

      Options of all commands
        --state=DIRECTORY      data, logs, keys and quickstart.json (default: .pushplanet in the repository)

      Options of up
        --detach               return when everything is ready
        --services=auto        a private instance of each server that is installed here, else the embedded one
                  =embedded    MariaDB, Redis and Qpid Broker-J from Maven artifacts (Qpid is for trying out only)
                  =installed   MariaDB, Redis and RabbitMQ as installed on this machine
                  =external    servers that run already, with:
        --mysql=jdbc:mysql://…  --mysql-user=…  --mysql-password=…  --redis=redis://…  --amqp=amqp://…
        --ports=free           any free ports; they are printed and stand in quickstart.json
        --port-offset=N        the usual ports moved by N, to run several platforms on one machine
        --dispatcher-port=8080 --dashboard-port=8081 --mqtt-port=1883 --mqtt-tls-port=8883 --node-port=1884
        --dispatcher-management-port=9080 --dashboard-management-port=9081 --worker-management-port=9082
        --cm-management-port=9083 --simulators-port=2199 --mysql-port=0 --redis-port=0 --amqp-port=0
        --apns-port=0 --apns-sandbox-port=0 --fcm-port=0 --hms-port=0 --webpush-port=0   (0: any free one)
        --on-death=stop        end with exit code 5 when a process dies (default)
                  =restart     start it again
        --without=dashboard    do not start these programs (dispatcher-api, gateway-worker, connection-manager, dashboard)
        --set=PROPERTY=VALUE   a further setting of all four programs (docs/settings.md); once for each
        --no-train             do not learn class caches once up (after a build, some two minutes of processor time that
                               nobody else wants), which make later starts twice as fast

      Options of send
        --device=ID  --title=TEXT  --body=TEXT  [--data=KEY=VALUE …]  [--route=auto|mqtt|vendor]  [--ttl=PT6H]
        [--collapse-key=KEY]  [--priority=high|normal|low]  [--app=ID]

      Exit codes
        0 done   1 failed   2 misused   3 no JDK 25   4 a port is taken, or not to be had
        5 a process died or did not start   6 up already   7 not up   8 the build failed
      """;

  private Help() {}
}
