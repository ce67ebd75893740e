/// What devices published, for their app's backend.
@NullMarked
package io.pushplanet.dispatcher.uplink;

import org.jspecify.annotations.NullMarked;
