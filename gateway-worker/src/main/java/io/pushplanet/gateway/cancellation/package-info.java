/// Which messages were cancelled.
@NullMarked
package io.pushplanet.gateway.cancellation;

import org.jspecify.annotations.NullMarked;
