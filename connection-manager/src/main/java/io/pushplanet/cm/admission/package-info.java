/// Decides whether this node admits a device, and where the device may go instead.
@NullMarked
package io.pushplanet.cm.admission;

import org.jspecify.annotations.NullMarked;
