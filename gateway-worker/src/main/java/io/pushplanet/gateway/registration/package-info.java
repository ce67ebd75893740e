/// What devices are registered with, and whose they are.
@NullMarked
package io.pushplanet.gateway.registration;

import org.jspecify.annotations.NullMarked;
