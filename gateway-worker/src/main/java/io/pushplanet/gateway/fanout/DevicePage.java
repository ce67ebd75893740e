package io.pushplanet.gateway.fanout;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.target.Recipient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Some recipients in the order of their device ids.
///
/// @param recipients empty when no candidate of the page is wanted
/// @param last where the next page begins; null when there is none
record DevicePage(List<Recipient> recipients, @Nullable DeviceId last) {
  DevicePage {
    recipients = List.copyOf(recipients);
  }
}
