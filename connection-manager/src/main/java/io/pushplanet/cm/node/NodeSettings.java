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
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/// Everything about this node.
///
/// @param nodeId unique among nodes; blank makes one from the host's name and a random part
/// @param mqttPort the listener for devices; 0 = any free one
/// @param tlsPort the listener for devices with TLS; 0 = any free one
/// @param gatewayPort the trusted listener, which only gateways may reach; 0 = any free one
/// @param wsPort MQTT over WebSocket, path `/mqtt`; unset for none
/// @param wssPort the same within TLS; needs `cm.tls`
/// @param bind address of all listeners
/// @param advertisedHost the host under which gateways and the dashboard reach this node
/// @param deviceHost the host under which devices reach this very node, for the Server Reference that other nodes name when
///     they are drained or full; blank when devices only know a load balancer
/// @param gatewayUser who may log in at the trusted listener, and drain the node; must equal `gateway.node.user`
/// @param gatewayPassword that user's password; must equal `gateway.node.password`
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
    @NotBlank @DefaultValue("127.0.0.1") String advertisedHost,
    @NotNull @DefaultValue("") String deviceHost,
    @NotBlank @DefaultValue("gateway") String gatewayUser,
    @NotNull Secret gatewayPassword,
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

  /// PEM files; without them there is no TLS listener. They are read again when they change.
  ///
  /// @param certificate PEM file with the certificate and its chain; without it there is no TLS listener
  /// @param privateKey PEM file with the certificate's key
  /// @param handshakeThreads TLS handshakes worked on at once; 0 takes one per two processors
  /// @param handshakesWaiting TLS handshakes in line; past it the oldest are given up
  record Tls(
      @Nullable Path certificate,
      @Nullable Path privateKey,
      @Min(0) @DefaultValue("0") int handshakeThreads,
      @Positive @DefaultValue("2000") int handshakesWaiting) {}

  /// @param loops event loops; 0 takes one per processor
  /// @param sockets `epoll` for the kernel's own calls, which Linux has; `nio` for the JDK's selectors, at some 540 bytes more for
  ///     each connection; `auto` for the better one that can be had
  /// @param unauthenticatedBytes cap on what all peers without a CONNECT make us hold; each listener has a sixteenth of it to itself, and
  ///     the devices' share the rest
  /// @param partialBytes cap on what all devices make us hold of packets whose rest has not come, or that wait to be read; a
  ///     device whose packet finds no room is closed. 0 takes an eighth of the heap
  /// @param pendingBytes what may wait for one device, 80 bytes for each packet included, before it is closed as a slow reader; a
  ///     sixteenth of it while the heap is nearly full, and then of what it sent and is not read yet, too
  /// @param gatewayPendingBytes what may wait for one gateway, 80 bytes for each packet included, before it is closed as a slow
  ///     reader
  /// @param writeStall how long a peer may take nothing while something waits for it
  /// @param backlog connections of each listener that wait to be accepted
  record Transport(
      @Min(0) @DefaultValue("0") int loops,
      @NotNull @DefaultValue("auto") Sockets sockets,
      @NotNull @DefaultValue("64MB") DataSize unauthenticatedBytes,
      @NotNull @DefaultValue("0B") DataSize partialBytes,
      @NotNull @DefaultValue("256KB") DataSize pendingBytes,
      @NotNull @DefaultValue("16MB") DataSize gatewayPendingBytes,
      @NotNull @DefaultValue("30s") Duration writeStall,
      @Positive @DefaultValue("1024") int backlog) {}

  /// @param mostSessions devices on this node; the next one is told Server busy, or to go elsewhere
  /// @param serverReference `host:port` told to MQTT 5 clients while this node is full or leaving; blank names another
  ///     node, where one with a `cm.device-host` is alive
  /// @param connectsPerSecond of each listener; what comes faster waits in the kernel's line. 0 for no limit, as below
  /// @param addressConnectsPerSecond of one source address (IPv6: /64); what comes faster is closed before TLS
  /// @param addressBurst how many connections of one address may come at once
  /// @param addressFailuresPerSecond wrong credentials of one address; past it the address is closed before TLS
  /// @param mostHeld sockets that are kept for 0.1 to 3 s before they are closed; past it they are closed at once
  /// @param unlimitedSources blocks whose addresses are not counted, such as a load balancer's; comma-separated
  record Admission(
      @Positive @DefaultValue("100000") int mostSessions,
      @NotNull @DefaultValue("") String serverReference,
      @Min(0) @DefaultValue("5000") int connectsPerSecond,
      @Min(0) @DefaultValue("200") int addressConnectsPerSecond,
      @Positive @DefaultValue("1000") int addressBurst,
      @Min(0) @DefaultValue("50") int addressFailuresPerSecond,
      @Min(0) @DefaultValue("1000") int mostHeld,
      @NotNull @DefaultValue("127.0.0.0/8,::1") String unlimitedSources) {}

  /// @param perSecond devices that are sent elsewhere in a second, unless the request says otherwise
  /// @param notice how long load balancers have to see that this node is not ready, before the first device is sent away
  /// @param settle how long a device that is sent away may take to acknowledge what it has
  /// @param longestAtStop how long a stop (SIGTERM) waits for devices to be moved; it raises the rate to what that needs
  record Drain(
      @Min(1) @Max(io.pushplanet.cm.node.Drain.MOST_PER_SECOND) @DefaultValue("500") int perSecond,
      @NotNull @DefaultValue("5s") Duration notice,
      @NotNull @DefaultValue("3s") Duration settle,
      @NotNull @DefaultValue("10s") Duration longestAtStop) {}

  /// @param learn whether MQTT 5 devices are told the longest keep-alive that their network has proven
  /// @param networks how many networks are remembered, about 150 bytes each
  /// @param deadPathAfter a device from which nothing comes for so long after a message at QoS 1 is disconnected, so that it
  ///     is reached another way; 0 for never
  record KeepAlive(
      @DefaultValue("true") boolean learn,
      @Positive @DefaultValue("4096") int networks,
      @NotNull @DefaultValue("20s") Duration deadPathAfter) {}

  /// @param window most messages in flight to one device
  /// @param waiting most messages that wait for room in a window
  /// @param holdUntilSubscribed how long a message waits for a device that has connected but not subscribed
  /// @param acknowledgeWithin a device with a full window that acknowledges nothing for so long gets nothing more until it does
  record Session(
      @Min(1) @Max(1000) @DefaultValue("16") int window,
      @Min(2) @DefaultValue("128") int waiting,
      @NotNull @DefaultValue("2s") Duration holdUntilSubscribed,
      @NotNull @DefaultValue("1m") Duration acknowledgeWithin) {}

  /// @param waiting connects and disconnects in line for Redis; a connect past it is told Server busy
  /// @param claimWithin a connect that stood in that line for longer is told Server busy
  /// @param formerWithin how long a connect waits for the node that had the device to let it go, and to say how its session was where Redis
  ///     remembers none. That takes some ten milliseconds; longer for a node that stands still, is cut off or whose machine vanished. A dead process is not waited for
  /// @param together the least time between two round trips of connects and disconnects to Redis: what comes meanwhile travels
  ///     together. A lone connect does not wait
  /// @param verifyEvery within this time every session is compared with the directory once, whatever was missed
  /// @param heartbeatEvery how often this node says that it lives; the lease runs 15 s
  record Directory(
      @Positive @DefaultValue("50000") int waiting,
      @NotNull @DefaultValue("5s") Duration claimWithin,
      @NotNull @DefaultValue("1s") Duration formerWithin,
      @NotNull @DefaultValue("25ms") Duration together,
      @NotNull @DefaultValue("5m") Duration verifyEvery,
      @NotNull @DefaultValue("3s") Duration heartbeatEvery) {}

  /// @param readers SELECT statements at once
  /// @param waiting devices in line to be read, and delivered rows in line to be deleted
  /// @param together the least time between two SELECT statements: devices that connect meanwhile are read together. A lone
  ///     device does not wait
  /// @param devicesPerRead most devices that one SELECT reads
  /// @param rowsPerDevice most rows that are read for one device at a time
  /// @param rowsPerRead most rows of one SELECT
  /// @param patrolEvery within this time the inbox of every connected device is looked into once, whatever was missed
  record Inbox(
      @Positive @DefaultValue("2") int readers,
      @Positive @DefaultValue("100000") int waiting,
      @NotNull @DefaultValue("100ms") Duration together,
      @Positive @DefaultValue("512") int devicesPerRead,
      @Positive @DefaultValue("100") int rowsPerDevice,
      @Positive @DefaultValue("1000") int rowsPerRead,
      @NotNull @DefaultValue("5m") Duration patrolEvery) {}

  /// @param mostOpenTargets targets of gateways' frames that wait for their devices
  /// @param framesWaiting frames of one gateway that wait to be read
  /// @param broadcastBytes that broadcasts may have on their way to devices, with what the kernel needs around them; at QoS 0,
  ///     where nobody tells when a message was read, in a quarter of a second
  /// @param longestWait how long a device's acknowledgement is waited for at most
  record Delivery(
      @Positive @DefaultValue("200000") int mostOpenTargets,
      @Positive @DefaultValue("64") int framesWaiting,
      @NotNull @DefaultValue("64MB") DataSize broadcastBytes,
      @NotNull @DefaultValue("30s") Duration longestWait) {}

  /// @param bytes largest uplink
  /// @param inFlight publishes of one device that wait for the broker's confirm (its Receive Maximum); those of QoS 0 count too
  /// @param perSecond what one device may publish, uplinks and receipts together; it is not read for a while when it publishes
  ///     faster, and at QoS 0 the rest is dropped after five seconds. 0 for no limit
  /// @param burst how much one device may publish at once, such as what it gathered while it was away, and again after a rest;
  ///     connections to the same node share it
  /// @param mostOpen events of all devices that wait for the broker's confirm
  record Uplink(
      @NotNull @DefaultValue("4KB") DataSize bytes,
      @Positive @DefaultValue("32") int inFlight,
      @Min(0) @DefaultValue("10") int perSecond,
      @Positive @DefaultValue("1000") int burst,
      @Positive @DefaultValue("20000") int mostOpen) {}
}
