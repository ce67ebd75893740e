/// One message for one device, and what has become of it while it waited.
@NullMarked
package io.pushplanet.gateway.parcel;

import org.jspecify.annotations.NullMarked;
