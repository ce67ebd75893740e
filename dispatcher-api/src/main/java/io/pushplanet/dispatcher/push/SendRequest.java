package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.target.Audience;

/// What a caller wants sent, complete and valid.
record SendRequest(
    Audience audience, Content content, DeliveryOptions delivery, Overrides overrides) {}
