/// The control packets of MQTT 3.1.1 and 5.0 as values, without their encoding.
@NullMarked
package io.pushplanet.cm.mqtt;

import org.jspecify.annotations.NullMarked;
