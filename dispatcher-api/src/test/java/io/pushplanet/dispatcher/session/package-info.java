@NullMarked
package io.pushplanet.dispatcher.session;

import org.jspecify.annotations.NullMarked;
