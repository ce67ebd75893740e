/// The connection manager: holds the devices' MQTT sessions. Begin with
/// [io.pushplanet.cm.ConnectionPipeline].
@NullMarked
package io.pushplanet.cm;

import org.jspecify.annotations.NullMarked;
