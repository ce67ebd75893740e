/// Devices as both ends know them: ids, platforms, the credential of the MQTT channel.
@NullMarked
package io.pushplanet.common.device;

import org.jspecify.annotations.NullMarked;
