/// A strict APNs: it answers as Apple documents, and refuses what Apple refuses.
@NullMarked
package io.pushplanet.simulators.apns;

import org.jspecify.annotations.NullMarked;
