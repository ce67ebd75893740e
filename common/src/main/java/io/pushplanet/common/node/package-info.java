/// Connection managers: their ids, leases and figures, and the pass for their management port.
@NullMarked
package io.pushplanet.common.node;

import org.jspecify.annotations.NullMarked;
