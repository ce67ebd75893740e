/// Changes that every process must learn of, read from the database in order.
@NullMarked
package io.pushplanet.common.change;

import org.jspecify.annotations.NullMarked;
