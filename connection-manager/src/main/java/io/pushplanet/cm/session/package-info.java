/// Devices that are connected, and what is on its way to each.
@NullMarked
package io.pushplanet.cm.session;

import org.jspecify.annotations.NullMarked;
