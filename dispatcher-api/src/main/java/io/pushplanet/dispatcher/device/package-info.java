/// Devices and what belongs to them: their registrations, topics and tags.
@NullMarked
package io.pushplanet.dispatcher.device;

import org.jspecify.annotations.NullMarked;
