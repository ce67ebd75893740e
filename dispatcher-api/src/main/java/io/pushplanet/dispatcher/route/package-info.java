/// The routes of devices: Redis first, MySQL on a miss.
@NullMarked
package io.pushplanet.dispatcher.route;

import org.jspecify.annotations.NullMarked;
