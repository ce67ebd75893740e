/// Bytes to packets and back, with limits that hold before a byte is kept.
@NullMarked
package io.pushplanet.cm.mqtt.codec;

import org.jspecify.annotations.NullMarked;
