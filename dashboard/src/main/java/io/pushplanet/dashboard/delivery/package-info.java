/// Messages, their deliveries, and the test push.
@NullMarked
package io.pushplanet.dashboard.delivery;

import org.jspecify.annotations.NullMarked;
