/// A connection to Redis that outlives its outages, and batched reads over it.
@NullMarked
package io.pushplanet.common.redis;

import org.jspecify.annotations.NullMarked;
