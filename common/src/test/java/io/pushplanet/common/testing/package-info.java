/// Fixtures shared by the tests of all modules.
@NullMarked
package io.pushplanet.common.testing;

import org.jspecify.annotations.NullMarked;
