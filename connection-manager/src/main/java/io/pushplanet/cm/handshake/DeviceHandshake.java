package io.pushplanet.cm.handshake;

import io.pushplanet.cm.handshake.HandshakeOutcome.Refused;
import io.pushplanet.cm.handshake.HandshakeOutcome.Welcome;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.link.KeepAlive;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.common.access.ExpiringToken.Verdict;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Reads a device's CONNECT: the client id is the device, the user name the app, the password the
/// credential from registration. The credential is checked without a look-up; the directory tells
/// later, when the device is claimed, whether the device was deleted. Thread-safe; takes
/// microseconds, so it runs on the event loop.
public final class DeviceHandshake {
  private static final long LONGEST_PACKET = 268_435_455L + 5;

  /// More than any packet of this server with a reason string has; a client with a smaller Maximum
  /// Packet Size is sent no reason strings.
  private static final int ROOM_FOR_REASONS = 256;

  /// CONNACK to a valid CONNECT has at most 30 bytes.
  private static final int SMALLEST_MAXIMUM_PACKET = 32;

  private final DeviceCredential credential;
  private final int window;
  private final int uplinksInFlight;
  private final int packetBytes;
  private final String willTopic;
  private final int willBytes;

  /// Shared objects for all devices of an app and for equal terms. Only apps with valid credentials
  /// are added, so that strangers cannot fill the map.
  private final ConcurrentHashMap<AppId, AppId> apps = new ConcurrentHashMap<>();

  private volatile SessionTerms usual = new SessionTerms(1, LONGEST_PACKET, 0);

  /// @param window how many messages may be in flight to a device
  /// @param uplinksInFlight the Receive Maximum that clients are told
  /// @param packetBytes the Maximum Packet Size that clients are told
  /// @param willTopic the only topic that a will may have
  /// @param willBytes of one will at most; the longest CONNECT bounds it, too
  public DeviceHandshake(
      DeviceCredential credential,
      int window,
      int uplinksInFlight,
      int packetBytes,
      String willTopic,
      int willBytes) {
    this.credential = credential;
    this.window = window;
    this.uplinksInFlight = uplinksInFlight;
    this.packetBytes = packetBytes;
    this.willTopic = willTopic;
    this.willBytes = willBytes;
  }

  public HandshakeOutcome check(Connect connect) {
    MqttProperties properties = connect.properties();
    if (properties.has(PropertyId.AUTHENTICATION_METHOD)) {
      return new Refused(
          ReasonCode.BAD_AUTHENTICATION_METHOD, "log in with user name and password");
    }
    if (connect.clientId().isEmpty()) {
      return new Refused(
          ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, "the client id must be the device id");
    }
    if (largestPacket(connect) < SMALLEST_MAXIMUM_PACKET) {
      return new Refused(
          ReasonCode.PACKET_TOO_LARGE,
          "the Maximum Packet Size must be " + SMALLEST_MAXIMUM_PACKET + " or more");
    }
    Refused will = refusedWill(connect.will());
    if (will != null) {
      return will;
    }
    return login(connect);
  }

  private HandshakeOutcome login(Connect connect) {
    String app = connect.userName();
    Binary password = connect.password();
    if (app == null || password == null || !AppId.isValid(app)) {
      return new Refused(
          ReasonCode.BAD_USER_NAME_OR_PASSWORD,
          "user name = app id, password = the credential from registration");
    }
    if (!DeviceId.isValid(connect.clientId())) {
      return new Refused(
          ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, "the client id must be the device id");
    }
    var device = new DeviceKey(new AppId(app), new DeviceId(connect.clientId()));
    return switch (credential.verify(device.app(), device.device(), password.utf8())) {
      case Verdict.Invalid() ->
          new Refused(
              ReasonCode.BAD_USER_NAME_OR_PASSWORD, "not the credential of this device and app");
      case Verdict.Expired() ->
          new Refused(
              ReasonCode.BAD_USER_NAME_OR_PASSWORD,
              "the credential has expired: register the device again");
      case Verdict.Valid(long ends) ->
          new Welcome(
              new DeviceKey(apps.computeIfAbsent(device.app(), first -> first), device.device()),
              ends,
              terms(connect),
              KeepAlive.of(connect.version(), connect.keepAliveSeconds()),
              hasRoomForReasons(connect)
                  && connect.properties().number(PropertyId.REQUEST_PROBLEM_INFORMATION, 1) == 1,
              connect);
    };
  }

  /// Whether the client's Maximum Packet Size allows reason strings, which must not make a packet
  /// exceed it.
  public static boolean hasRoomForReasons(Connect connect) {
    return largestPacket(connect) >= ROOM_FOR_REASONS;
  }

  private static long largestPacket(Connect connect) {
    return connect.properties().number(PropertyId.MAXIMUM_PACKET_SIZE, LONGEST_PACKET);
  }

  private @Nullable Refused refusedWill(@Nullable Will will) {
    if (will == null) {
      return null;
    }
    if (will.qos() == QoS.EXACTLY_ONCE) {
      return new Refused(ReasonCode.QOS_NOT_SUPPORTED, "a will can have QoS 0 or 1");
    }
    if (will.retain()) {
      return new Refused(ReasonCode.RETAIN_NOT_SUPPORTED, "nothing is retained here");
    }
    if (!will.topic().equals(willTopic)) {
      return new Refused(ReasonCode.NOT_AUTHORIZED, "a will's topic must be " + willTopic);
    }
    if (will.payload().size() > willBytes) {
      return new Refused(ReasonCode.PACKET_TOO_LARGE, "a will has at most " + willBytes + " bytes");
    }
    return null;
  }

  private SessionTerms terms(Connect connect) {
    MqttProperties properties = connect.properties();
    long longest = SessionTerms.LONGEST_EXPIRY.toSeconds();
    long expiry =
        connect.version() == MqttVersion.V5
            ? Math.min(properties.number(PropertyId.SESSION_EXPIRY_INTERVAL, 0), longest)
            : connect.cleanStart() ? 0 : longest;
    var terms =
        new SessionTerms(
            (int) Math.min(window, properties.number(PropertyId.RECEIVE_MAXIMUM, 0xFFFF)),
            largestPacket(connect),
            expiry);
    SessionTerms before = usual;
    if (terms.equals(before)) {
      return before;
    }
    usual = terms;
    return terms;
  }

  /// The properties of CONNACK: this server's limits, and changes to the client's wishes.
  public MqttProperties welcome(Welcome welcome) {
    if (welcome.connect().version() != MqttVersion.V5) {
      return MqttProperties.NONE;
    }
    MqttProperties.Builder told =
        MqttProperties.builder()
            .number(PropertyId.MAXIMUM_QOS, 1)
            .number(PropertyId.RETAIN_AVAILABLE, 0)
            .number(PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE, 0)
            .number(PropertyId.SHARED_SUBSCRIPTION_AVAILABLE, 0)
            .number(PropertyId.RECEIVE_MAXIMUM, uplinksInFlight)
            .number(PropertyId.MAXIMUM_PACKET_SIZE, packetBytes);
    if (welcome.keepAlive().changed()) {
      told.number(PropertyId.SERVER_KEEP_ALIVE, welcome.keepAlive().seconds());
    }
    long wished = welcome.connect().properties().number(PropertyId.SESSION_EXPIRY_INTERVAL, 0);
    if (wished != welcome.terms().expirySeconds()) {
      told.number(PropertyId.SESSION_EXPIRY_INTERVAL, welcome.terms().expirySeconds());
    }
    return told.build();
  }
}
