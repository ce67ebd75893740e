/// Forgets dead tokens, by the rules.
@NullMarked
package io.pushplanet.gateway.token;

import org.jspecify.annotations.NullMarked;
