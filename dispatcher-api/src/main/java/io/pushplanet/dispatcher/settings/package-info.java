/// What an operator can set here.
@NullMarked
package io.pushplanet.dispatcher.settings;

import org.jspecify.annotations.NullMarked;
