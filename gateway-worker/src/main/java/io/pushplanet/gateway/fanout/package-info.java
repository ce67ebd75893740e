/// Finds the recipients of a topic, a tag or a whole app, some thousand at a time.
@NullMarked
package io.pushplanet.gateway.fanout;

import org.jspecify.annotations.NullMarked;
