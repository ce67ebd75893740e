/// Encodes and decodes packets, with limits that apply before a byte is kept.
@NullMarked
package io.pushplanet.cm.mqtt.codec;

import org.jspecify.annotations.NullMarked;
