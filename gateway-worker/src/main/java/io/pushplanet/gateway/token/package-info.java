/// Forgets dead tokens, with the care that a wrong credential demands.
@NullMarked
package io.pushplanet.gateway.token;

import org.jspecify.annotations.NullMarked;
