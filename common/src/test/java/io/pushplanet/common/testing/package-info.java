/// Fixtures that every module's tests share.
@NullMarked
package io.pushplanet.common.testing;

import org.jspecify.annotations.NullMarked;
