/// The REST API: accepts messages and devices.
@NullMarked
package io.pushplanet.dispatcher;

import org.jspecify.annotations.NullMarked;
