/// The parts of every page: the frame, errors, limits, ids as column types.
@NullMarked
package io.pushplanet.dashboard.page;

import org.jspecify.annotations.NullMarked;
