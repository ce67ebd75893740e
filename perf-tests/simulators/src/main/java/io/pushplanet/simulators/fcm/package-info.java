/// A strict FCM HTTP v1 with its OAuth token endpoint.
@NullMarked
package io.pushplanet.simulators.fcm;

import org.jspecify.annotations.NullMarked;
