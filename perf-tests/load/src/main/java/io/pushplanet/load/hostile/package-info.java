/// What bots and broken clients send to a node's listeners.
@NullMarked
package io.pushplanet.load.hostile;

import org.jspecify.annotations.NullMarked;
