/// The registrations of devices, and their users.
@NullMarked
package io.pushplanet.gateway.registration;

import org.jspecify.annotations.NullMarked;
