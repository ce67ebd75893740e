/// Devices: ids, platforms, and the password of the MQTT channel.
@NullMarked
package io.pushplanet.common.device;

import org.jspecify.annotations.NullMarked;
