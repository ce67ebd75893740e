/// The settings of the dispatcher.
@NullMarked
package io.pushplanet.dispatcher.settings;

import org.jspecify.annotations.NullMarked;
