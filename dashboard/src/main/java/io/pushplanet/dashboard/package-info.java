/// The operators' pages.
@NullMarked
package io.pushplanet.dashboard;

import org.jspecify.annotations.NullMarked;
