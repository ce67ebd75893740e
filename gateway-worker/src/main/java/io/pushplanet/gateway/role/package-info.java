/// Which tasks this process does.
@NullMarked
package io.pushplanet.gateway.role;

import org.jspecify.annotations.NullMarked;
