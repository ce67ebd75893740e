/// Whether this worker can do its work.
@NullMarked
package io.pushplanet.gateway.health;

import org.jspecify.annotations.NullMarked;
