/// Whether there is room for one more.
@NullMarked
package io.pushplanet.cm.admission;

import org.jspecify.annotations.NullMarked;
