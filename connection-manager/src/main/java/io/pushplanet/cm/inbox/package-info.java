/// Messages that waited in MySQL while their device was away.
@NullMarked
package io.pushplanet.cm.inbox;

import org.jspecify.annotations.NullMarked;
