/// Messages that devices published, for the backend of their app.
@NullMarked
package io.pushplanet.dispatcher.uplink;

import org.jspecify.annotations.NullMarked;
