/// Registration, sessions, topics and tags of devices.
@NullMarked
package io.pushplanet.dispatcher.device;

import org.jspecify.annotations.NullMarked;
