package io.pushplanet.cm.node;

import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.access.Secret;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.nio.file.Path;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/// Everything about this node.
///
/// @param nodeId unique among nodes; blank makes one from the host's name and a random part
/// @param mqttPort the listener for devices; 0 = any free port
/// @param tlsPort the listener for devices with TLS; 0 = any free port
/// @param gatewayPort the trusted listener, which only gateways may reach; 0 = any free port
/// @param wsPort MQTT over WebSocket, path `/mqtt`; unset for none
/// @param wssPort MQTT over WebSocket within TLS, path `/mqtt`; needs `cm.tls`; unset for none
/// @param bind address of the listeners; `cm.gateway-bind` may give the trusted one another
/// @param gatewayBind address of the trusted listener; blank for that of `cm.bind`
/// @param advertisedHost the host under which gateways and the dashboard reach this node
/// @param deviceHost the host under which devices reach this node itself, for the Server Reference
///     that other nodes send when they are drained or full; blank when devices only know a load
///     balancer
/// @param gatewayUser the user that may log in at the trusted listener, and drain the node; must
///     equal `gateway.node.user`
/// @param gatewayPassword password of `cm.gateway-user`; must equal `gateway.node.password`
@Validated
@ConfigurationProperties(prefix = "cm", ignoreUnknownFields = false)
record NodeSettings(
    @NotNull @DefaultValue("") String nodeId,
    @Min(0) @Max(65535) @DefaultValue("1883") int mqttPort,
    @Min(0) @Max(65535) @DefaultValue("8883") int tlsPort,
    @Min(0) @Max(65535) @DefaultValue("1884") int gatewayPort,
    @Min(0) @Max(65535) @Nullable Integer wsPort,
    @Min(0) @Max(65535) @Nullable Integer wssPort,
    @NotBlank @DefaultValue("0.0.0.0") String bind,
    @NotNull @DefaultValue("") String gatewayBind,
    @NotBlank @DefaultValue("127.0.0.1") String advertisedHost,
    @NotNull @DefaultValue("") String deviceHost,
    @NotBlank @DefaultValue("gateway") String gatewayUser,
    @NotNull(
            message =
                "cm.gateway-password is missing: openssl rand -base64 32 makes one, and gateway.node.password must equal it")
        Secret gatewayPassword,
    @Valid @NotNull @DefaultValue Tls tls,
    @Valid @NotNull @DefaultValue Transport transport,
    @Valid @NotNull @DefaultValue Admission admission,
    @Valid @NotNull @DefaultValue Drain drain,
    @Valid @NotNull @DefaultValue KeepAlive keepAlive,
    @Valid @NotNull @DefaultValue Session session,
    @Valid @NotNull @DefaultValue Directory directory,
    @Valid @NotNull @DefaultValue Inbox inbox,
    @Valid @NotNull @DefaultValue Delivery delivery,
    @Valid @NotNull @DefaultValue Uplink uplink) {

  /// The address of the trusted listener.
  String addressForGateways() {
    return gatewayBind.isBlank() ? bind : gatewayBind;
  }

  /// PEM files; without them there is no TLS listener. They are read again when they change.
  ///
  /// @param certificate PEM file with the certificate and its chain; without it there is no TLS
  ///     listener
  /// @param privateKey PEM file with the certificate's key
  /// @param handshakeThreads TLS handshakes processed at once; 0 means one per two processors
  /// @param handshakesWaiting waiting TLS handshakes; above this number the oldest are given up
  record Tls(
      @Nullable Path certificate,
      @Nullable Path privateKey,
      @Min(0) @DefaultValue("0") int handshakeThreads,
      @Positive @DefaultValue("2000") int handshakesWaiting) {}

  /// @param loops event loops; 0 means one per processor
  /// @param sockets `epoll` for the system calls of Linux; `nio` for the JDK's selectors, which
  ///     take some 540 bytes more for each connection; `auto` for the better one that is available
  /// @param unauthenticatedBytes most bytes that are kept of all peers before their CONNECT; each
  ///     listener has a sixteenth of it to itself, and the listeners for devices share the rest
  /// @param partialBytes most bytes that are kept of all devices' packets that are incomplete or
  ///     wait to be read; a device whose packet finds no room is closed. 0 means an eighth of the
  ///     heap
  /// @param pendingBytes most bytes that wait for one device, with 80 bytes for each packet, before
  ///     the device is closed as a slow reader; a sixteenth of it while the heap is nearly full,
  ///     and then also most bytes that the device sent and that are not read yet
  /// @param gatewayPendingBytes most bytes that wait for one gateway, with 80 bytes for each
  ///     packet, before the gateway is closed as a slow reader
  /// @param writeStall a peer that reads nothing for this time while bytes wait for it is closed
  /// @param userTimeout a peer that acknowledges no bytes for this time while some are under way to
  ///     it is given up by the kernel, so that a dead path is noticed after any packet; so is a
  ///     peer that has no room for bytes for this time. 0 for the kernel's own limit, a quarter of
  ///     an hour; without effect unless `cm.transport.sockets` is `epoll`
  /// @param backlog connections of each listener that wait to be accepted
  record Transport(
      @Min(0) @DefaultValue("0") int loops,
      @NotNull @DefaultValue("auto") Sockets sockets,
      @NotNull @DefaultValue("64MB") DataSize unauthenticatedBytes,
      @NotNull @DefaultValue("0B") DataSize partialBytes,
      @NotNull @DefaultValue("256KB") DataSize pendingBytes,
      @NotNull @DefaultValue("16MB") DataSize gatewayPendingBytes,
      @NotNull @DurationMin(millis = 1) @DefaultValue("30s") Duration writeStall,
      @NotNull @DurationMin @DefaultValue("30s") Duration userTimeout,
      @Positive @DefaultValue("1024") int backlog) {}

  /// @param maxSessions most devices on this node; the next device is told Server busy, or to go
  ///     elsewhere. The process needs 1,000 file descriptors more
  /// @param serverReference `host:port` told to MQTT 5 clients while this node is full or leaving;
  ///     blank names another node, if one with a `cm.device-host` has room
  /// @param connectsPerSecond connections per second of each listener; others wait in the kernel's
  ///     queue; 0: no limit
  /// @param addressConnectsPerSecond connections per second of one source address (IPv6: /64);
  ///     others are closed before TLS; 0: no limit
  /// @param addressBurst connections of one address that may come at once
  /// @param addressFailuresPerSecond wrong credentials per second of one address; above it the
  ///     address's connections are closed before TLS; 0: no limit
  /// @param maxHeld refused sockets that are kept for 0.1 to 3 s before they are closed; others
  ///     are closed at once
  /// @param unlimitedSources blocks whose addresses are not counted, such as a load balancer's;
  ///     comma-separated
  record Admission(
      @Positive @DefaultValue("100000") int maxSessions,
      @NotNull @DefaultValue("") String serverReference,
      @Min(0) @DefaultValue("5000") int connectsPerSecond,
      @Min(0) @DefaultValue("200") int addressConnectsPerSecond,
      @Positive @DefaultValue("1000") int addressBurst,
      @Min(0) @DefaultValue("50") int addressFailuresPerSecond,
      @Min(0) @DefaultValue("1000") int maxHeld,
      @NotNull @DefaultValue("127.0.0.0/8,::1") String unlimitedSources) {}

  /// @param perSecond devices that are sent elsewhere in a second, unless the request says
  ///     otherwise
  /// @param notice time for load balancers to see that this node is not ready, before the first
  ///     device is sent away
  /// @param settle how long a device that is sent away may take to acknowledge its messages
  /// @param longestAtStop how long a stop (SIGTERM) waits for devices to be moved; the rate is
  ///     raised to what that needs
  record Drain(
      @Min(1) @Max(io.pushplanet.cm.node.Drain.MAX_PER_SECOND) @DefaultValue("500") int perSecond,
      @NotNull @DurationMin @DefaultValue("5s") Duration notice,
      @NotNull @DurationMin @DefaultValue("3s") Duration settle,
      @NotNull @DurationMin @DefaultValue("10s") Duration longestAtStop) {}

  /// @param learn whether MQTT 5 devices are told the longest keep-alive that their network has
  ///     proven
  /// @param networks networks that are remembered, about 150 bytes each
  /// @param deadPathAfter a device that sends nothing for this time after a message at QoS 1 is
  ///     disconnected, so that it is reached another way; 0 for never
  record KeepAlive(
      @DefaultValue("true") boolean learn,
      @Positive @DefaultValue("4096") int networks,
      @NotNull @DurationMin @DefaultValue("20s") Duration deadPathAfter) {}

  /// @param window most messages in flight to one device
  /// @param waiting most messages that wait for room in a window
  /// @param holdUntilSubscribed how long a message waits for a device that has connected but not
  ///     subscribed
  /// @param acknowledgeWithin a device with a full window that acknowledges nothing for this time
  ///     gets nothing more until it does
  record Session(
      @Min(1) @Max(1000) @DefaultValue("16") int window,
      @Min(2) @DefaultValue("128") int waiting,
      @NotNull @DurationMin @DefaultValue("2s") Duration holdUntilSubscribed,
      @NotNull @DurationMin(millis = 1) @DefaultValue("1m") Duration acknowledgeWithin) {}

  /// @param waiting connects and disconnects that wait for Redis; the next connect is told Server
  ///     busy
  /// @param claimWithin a connect that waited for Redis for longer is told Server busy
  /// @param formerWithin how long a connect waits for the former node to release the device, and to
  ///     describe its session if Redis remembers none. The release takes some ten milliseconds, and
  ///     longer if that node stands still, is cut off or its machine vanished. A connect does not
  ///     wait for a dead process
  /// @param together the least time between two round trips of connects and disconnects to Redis:
  ///     all that come meanwhile travel together. A lone connect does not wait
  /// @param verifyEvery within this time every session is compared with the directory once, even if
  ///     no notice came
  /// @param heartbeatEvery how often this node renews its lease, which runs 15 s
  record Directory(
      @Positive @DefaultValue("50000") int waiting,
      @NotNull @DurationMin(millis = 1) @DefaultValue("5s") Duration claimWithin,
      @NotNull @DurationMin @DefaultValue("1s") Duration formerWithin,
      @NotNull @DurationMin @DefaultValue("25ms") Duration together,
      @NotNull @DurationMin(millis = 1) @DefaultValue("5m") Duration verifyEvery,
      @NotNull @DurationMin(millis = 1) @DefaultValue("3s") Duration heartbeatEvery) {}

  /// @param readers SELECT statements at once
  /// @param waiting devices that wait to be read, and delivered rows that wait to be deleted
  /// @param together the least time between two SELECT statements: devices that connect meanwhile
  ///     are read together. A lone device does not wait
  /// @param devicesPerRead most devices that one SELECT reads
  /// @param rowsPerDevice most rows that are read for one device at a time
  /// @param rowsPerRead most rows of one SELECT
  /// @param patrolEvery within this time the inbox of every connected device is checked once, even
  ///     if no drain request came
  record Inbox(
      @Positive @DefaultValue("2") int readers,
      @Positive @DefaultValue("100000") int waiting,
      @NotNull @DurationMin @DefaultValue("100ms") Duration together,
      @Positive @DefaultValue("512") int devicesPerRead,
      @Positive @DefaultValue("100") int rowsPerDevice,
      @Positive @DefaultValue("1000") int rowsPerRead,
      @NotNull @DurationMin(millis = 1) @DefaultValue("5m") Duration patrolEvery) {}

  /// @param maxOpenTargets targets of gateways' frames that wait for their devices
  /// @param framesWaiting frames of one gateway that wait to be read
  /// @param broadcastBytes most bytes of broadcasts on their way to devices, with the kernel's
  ///     overhead; at QoS 0, where no acknowledgement comes, most bytes in a quarter of a second
  /// @param longestWait how long the node waits for a device's acknowledgement at most
  record Delivery(
      @Positive @DefaultValue("200000") int maxOpenTargets,
      @Positive @DefaultValue("64") int framesWaiting,
      @NotNull @DefaultValue("64MB") DataSize broadcastBytes,
      @NotNull @DurationMin(millis = 1) @DefaultValue("30s") Duration longestWait) {}

  /// @param bytes largest uplink, and largest will
  /// @param inFlight publishes of one device that wait for the broker's confirm (its Receive
  ///     Maximum); those of QoS 0 count too
  /// @param perSecond publishes of one device per second, uplinks and receipts together; a device
  ///     that publishes faster is not read for a while, and at QoS 0 the rest is dropped after five
  ///     seconds. 0 for no limit
  /// @param burst publishes of one device that may come at once, such as those that it gathered
  ///     while it was away, and again after a rest; connections to the same node share it
  /// @param maxOpen events of all devices that wait for the broker's confirm
  record Uplink(
      @NotNull @DefaultValue("4KB") DataSize bytes,
      @Positive @DefaultValue("32") int inFlight,
      @Min(0) @DefaultValue("10") int perSecond,
      @Positive @DefaultValue("1000") int burst,
      @Positive @DefaultValue("20000") int maxOpen) {}
}
