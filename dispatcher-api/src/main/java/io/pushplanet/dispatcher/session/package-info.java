/// Reports that devices are alive: to Redis at once, to MySQL in sorted batches.
@NullMarked
package io.pushplanet.dispatcher.session;

import org.jspecify.annotations.NullMarked;
