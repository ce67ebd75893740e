package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;

/// What a caller wants sent, complete and valid.
///
/// @param written the content as it is measured, published and kept
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
