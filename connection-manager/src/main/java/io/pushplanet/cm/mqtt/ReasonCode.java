package io.pushplanet.cm.mqtt;

import java.util.Optional;

/// The reason codes of MQTT 5 that this server sends or understands
/// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901031), with the
/// corresponding CONNACK return code of 3.1.1. Where 3.1.1 has none, the socket is closed without a
/// packet.
public enum ReasonCode {
  SUCCESS(0x00, 0),
  GRANTED_QOS_1(0x01),
  GRANTED_QOS_2(0x02),
  DISCONNECT_WITH_WILL(0x04),
  NO_MATCHING_SUBSCRIBERS(0x10),
  NO_SUBSCRIPTION_EXISTED(0x11),
  UNSPECIFIED_ERROR(0x80, 3),
  MALFORMED_PACKET(0x81),
  PROTOCOL_ERROR(0x82),
  IMPLEMENTATION_SPECIFIC_ERROR(0x83, 3),
  UNSUPPORTED_PROTOCOL_VERSION(0x84, 1),
  CLIENT_IDENTIFIER_NOT_VALID(0x85, 2),
  BAD_USER_NAME_OR_PASSWORD(0x86, 4),
  NOT_AUTHORIZED(0x87, 5),
  SERVER_UNAVAILABLE(0x88, 3),
  SERVER_BUSY(0x89, 3),
  BANNED(0x8A, 5),
  SERVER_SHUTTING_DOWN(0x8B, 3),
  BAD_AUTHENTICATION_METHOD(0x8C, 5),
  KEEP_ALIVE_TIMEOUT(0x8D),
  SESSION_TAKEN_OVER(0x8E),
  TOPIC_FILTER_INVALID(0x8F),
  TOPIC_NAME_INVALID(0x90, 5),
  PACKET_IDENTIFIER_IN_USE(0x91),
  PACKET_IDENTIFIER_NOT_FOUND(0x92),
  RECEIVE_MAXIMUM_EXCEEDED(0x93),
  TOPIC_ALIAS_INVALID(0x94),
  PACKET_TOO_LARGE(0x95),
  MESSAGE_RATE_TOO_HIGH(0x96),
  QUOTA_EXCEEDED(0x97, 3),
  ADMINISTRATIVE_ACTION(0x98),
  PAYLOAD_FORMAT_INVALID(0x99),
  RETAIN_NOT_SUPPORTED(0x9A, 5),
  QOS_NOT_SUPPORTED(0x9B, 5),
  USE_ANOTHER_SERVER(0x9C, 3),
  SERVER_MOVED(0x9D, 3),
  SHARED_SUBSCRIPTIONS_NOT_SUPPORTED(0x9E),
  CONNECTION_RATE_EXCEEDED(0x9F, 3),
  SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED(0xA1),
  WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED(0xA2);

  /// SUBACK's only failure code in 3.1.1.
  public static final int V3_SUBSCRIPTION_FAILED = 0x80;

  private static final int NONE = -1;
  private static final ReasonCode[] BY_CODE = new ReasonCode[256];

  static {
    for (ReasonCode reason : values()) {
      BY_CODE[reason.code] = reason;
    }
  }

  private final int code;
  private final int returnCode;

  ReasonCode(int code) {
    this(code, NONE);
  }

  ReasonCode(int code, int returnCode) {
    this.code = code;
    this.returnCode = returnCode;
  }

  public int code() {
    return code;
  }

  public boolean isFailure() {
    return code >= 0x80;
  }

  /// The return code of a 3.1.1 CONNACK; empty where that version has none.
  public Optional<Integer> returnCode() {
    return returnCode == NONE ? Optional.empty() : Optional.of(returnCode);
  }

  /// The reason with this number; empty if it is unknown here.
  public static Optional<ReasonCode> of(int code) {
    return Optional.ofNullable(BY_CODE[code & 0xFF]);
  }

  /// The granted QoS as a SUBACK code.
  public static ReasonCode granted(QoS qos) {
    return switch (qos) {
      case AT_MOST_ONCE -> SUCCESS;
      case AT_LEAST_ONCE -> GRANTED_QOS_1;
      case EXACTLY_ONCE -> GRANTED_QOS_2;
    };
  }
}
