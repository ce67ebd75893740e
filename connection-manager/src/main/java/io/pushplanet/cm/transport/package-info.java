/// Sockets: event loops, listeners, partial frames, pending writes. Knows nothing of MQTT. See
/// RATIONALE.md in this folder.
@NullMarked
package io.pushplanet.cm.transport;

import org.jspecify.annotations.NullMarked;
