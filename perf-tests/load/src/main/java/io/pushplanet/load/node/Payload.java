package io.pushplanet.load.node;

/// A message in the devices' form, of about 180 bytes.
final class Payload {
  private Payload() {}

  static String of(String id) {
    return "{\"id\":\""
        + id
        + "\",\"title\":\"Shipped\",\"body\":\"Order 77 is on its way to you\",\"data\":{\"order\":\"77\"},"
        + "\"sent_at\":\"2026-11-21T05:00:00Z\",\"collapse_key\":\"order-77\"}";
  }
}
