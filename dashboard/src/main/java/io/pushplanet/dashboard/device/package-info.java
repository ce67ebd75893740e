/// One device: channels, topics, tags and what it was sent.
@NullMarked
package io.pushplanet.dashboard.device;

import org.jspecify.annotations.NullMarked;
