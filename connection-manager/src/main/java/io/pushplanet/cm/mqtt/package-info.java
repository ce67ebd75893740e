/// The control packets of MQTT 3.1.1 and 5.0 as values: what travels, not how it is written.
@NullMarked
package io.pushplanet.cm.mqtt;

import org.jspecify.annotations.NullMarked;
