/// Broadcast channels for Live Activities: requested here, made at Apple by a worker.
@NullMarked
package io.pushplanet.dispatcher.activity;

import org.jspecify.annotations.NullMarked;
