/// How long idle connections survive in each network, learned from those that did and those that did not.
@NullMarked
package io.pushplanet.cm.keepalive;

import org.jspecify.annotations.NullMarked;
