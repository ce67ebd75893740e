/// The simulators' own certificate authority.
@NullMarked
package io.pushplanet.simulators.tls;

import org.jspecify.annotations.NullMarked;
