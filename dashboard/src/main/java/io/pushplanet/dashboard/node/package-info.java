/// Connection-manager nodes and how many devices they hold.
@NullMarked
package io.pushplanet.dashboard.node;

import org.jspecify.annotations.NullMarked;
