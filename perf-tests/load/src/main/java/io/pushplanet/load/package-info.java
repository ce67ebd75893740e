/// Load on a running platform, and whether its account balances.
@NullMarked
package io.pushplanet.load;

import org.jspecify.annotations.NullMarked;
