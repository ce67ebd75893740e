/// Settings that every process shares.
@NullMarked
package io.pushplanet.common.settings;

import org.jspecify.annotations.NullMarked;
