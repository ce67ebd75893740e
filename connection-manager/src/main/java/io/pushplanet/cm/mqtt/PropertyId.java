package io.pushplanet.cm.mqtt;

import java.util.Optional;

/// Every property of MQTT 5, its form, and the packets that may carry it
/// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901029).
public enum PropertyId {
  PAYLOAD_FORMAT_INDICATOR(0x01, Form.BYTE, Place.PUBLISH, Place.WILL),
  MESSAGE_EXPIRY_INTERVAL(0x02, Form.INT, Place.PUBLISH, Place.WILL),
  CONTENT_TYPE(0x03, Form.TEXT, Place.PUBLISH, Place.WILL),
  RESPONSE_TOPIC(0x08, Form.TEXT, Place.PUBLISH, Place.WILL),
  CORRELATION_DATA(0x09, Form.BINARY, Place.PUBLISH, Place.WILL),
  SUBSCRIPTION_IDENTIFIER(0x0B, Form.VARINT, Place.PUBLISH, Place.SUBSCRIBE),
  SESSION_EXPIRY_INTERVAL(0x11, Form.INT, Place.CONNECT, Place.CONNACK, Place.DISCONNECT),
  ASSIGNED_CLIENT_IDENTIFIER(0x12, Form.TEXT, Place.CONNACK),
  SERVER_KEEP_ALIVE(0x13, Form.SHORT, Place.CONNACK),
  AUTHENTICATION_METHOD(0x15, Form.TEXT, Place.CONNECT, Place.CONNACK, Place.AUTH),
  AUTHENTICATION_DATA(0x16, Form.BINARY, Place.CONNECT, Place.CONNACK, Place.AUTH),
  REQUEST_PROBLEM_INFORMATION(0x17, Form.BYTE, Place.CONNECT),
  WILL_DELAY_INTERVAL(0x18, Form.INT, Place.WILL),
  REQUEST_RESPONSE_INFORMATION(0x19, Form.BYTE, Place.CONNECT),
  RESPONSE_INFORMATION(0x1A, Form.TEXT, Place.CONNACK),
  SERVER_REFERENCE(0x1C, Form.TEXT, Place.CONNACK, Place.DISCONNECT),
  REASON_STRING(
      0x1F,
      Form.TEXT,
      Place.CONNACK,
      Place.ACK,
      Place.SUBACK,
      Place.UNSUBACK,
      Place.DISCONNECT,
      Place.AUTH),
  RECEIVE_MAXIMUM(0x21, Form.SHORT, Place.CONNECT, Place.CONNACK),
  TOPIC_ALIAS_MAXIMUM(0x22, Form.SHORT, Place.CONNECT, Place.CONNACK),
  TOPIC_ALIAS(0x23, Form.SHORT, Place.PUBLISH),
  MAXIMUM_QOS(0x24, Form.BYTE, Place.CONNACK),
  RETAIN_AVAILABLE(0x25, Form.BYTE, Place.CONNACK),
  USER_PROPERTY(0x26, Form.TEXT_PAIR, Place.values()),
  MAXIMUM_PACKET_SIZE(0x27, Form.INT, Place.CONNECT, Place.CONNACK),
  WILDCARD_SUBSCRIPTION_AVAILABLE(0x28, Form.BYTE, Place.CONNACK),
  SUBSCRIPTION_IDENTIFIER_AVAILABLE(0x29, Form.BYTE, Place.CONNACK),
  SHARED_SUBSCRIPTION_AVAILABLE(0x2A, Form.BYTE, Place.CONNACK);

  /// How a value is encoded.
  public enum Form {
    BYTE,
    SHORT,
    INT,
    VARINT,
    TEXT,
    BINARY,
    TEXT_PAIR
  }

  /// The packets and the will, which may carry properties. `ACK` is PUBACK, PUBREC, PUBREL and
  /// PUBCOMP.
  public enum Place {
    CONNECT,
    WILL,
    CONNACK,
    PUBLISH,
    ACK,
    SUBSCRIBE,
    SUBACK,
    UNSUBSCRIBE,
    UNSUBACK,
    DISCONNECT,
    AUTH
  }

  private static final PropertyId[] BY_CODE = new PropertyId[0x2B];

  static {
    for (PropertyId property : values()) {
      BY_CODE[property.code] = property;
    }
  }

  private final int code;
  private final Form form;
  private final int places;

  PropertyId(int code, Form form, Place... places) {
    this.code = code;
    this.form = form;
    int bits = 0;
    for (Place place : places) {
      bits |= 1 << place.ordinal();
    }
    this.places = bits;
  }

  public int code() {
    return code;
  }

  public Form form() {
    return form;
  }

  public boolean mayStandIn(Place place) {
    return (places & (1 << place.ordinal())) != 0;
  }

  public static Optional<PropertyId> of(int code) {
    return code < BY_CODE.length ? Optional.ofNullable(BY_CODE[code]) : Optional.empty();
  }
}
