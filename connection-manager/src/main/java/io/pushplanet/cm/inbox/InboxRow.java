package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;

/// One message that waits for its device.
public record InboxRow(
    DeviceKey device, String slot, MessageId message, Binary payload, long expiresAtMillis) {}
