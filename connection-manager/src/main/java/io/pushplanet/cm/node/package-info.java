/// This process as a node: settings, listeners, lease, health.
@NullMarked
package io.pushplanet.cm.node;

import org.jspecify.annotations.NullMarked;
