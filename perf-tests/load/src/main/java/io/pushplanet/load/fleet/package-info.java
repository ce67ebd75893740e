/// Thousands of devices on one thread: a lean MQTT client that remembers every message that it saw.
@NullMarked
package io.pushplanet.load.fleet;

import org.jspecify.annotations.NullMarked;
