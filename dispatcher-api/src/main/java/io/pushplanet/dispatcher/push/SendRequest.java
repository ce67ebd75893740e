package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;

/// A valid request to send a message.
///
/// @param written the content in the form in which it is measured, published and kept
record SendRequest(
    Audience audience,
    Content content,
    Json written,
    DeliveryOptions delivery,
    Overrides overrides) {
  SendRequest(Audience audience, Content content, DeliveryOptions delivery, Overrides overrides) {
    this(audience, content, WireForm.json(content), delivery, overrides);
  }
}
