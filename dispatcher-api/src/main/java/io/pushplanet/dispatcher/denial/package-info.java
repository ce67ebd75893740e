/// Deleted devices, whose passwords let nobody in any more.
@NullMarked
package io.pushplanet.dispatcher.denial;

import org.jspecify.annotations.NullMarked;
