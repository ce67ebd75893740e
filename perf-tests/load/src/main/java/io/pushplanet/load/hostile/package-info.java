/// The traffic of bots and broken clients to a node's listeners.
@NullMarked
package io.pushplanet.load.hostile;

import org.jspecify.annotations.NullMarked;
