/// The form of every refusal: an RFC 9457 problem document.
@NullMarked
package io.pushplanet.dispatcher.problem;

import org.jspecify.annotations.NullMarked;
