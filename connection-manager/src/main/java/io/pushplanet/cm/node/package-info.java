/// This process as a node: settings, wiring, lease, health.
@NullMarked
package io.pushplanet.cm.node;

import org.jspecify.annotations.NullMarked;
