/// Deleted devices, whose passwords no longer let them in.
@NullMarked
package io.pushplanet.dispatcher.denial;

import org.jspecify.annotations.NullMarked;
