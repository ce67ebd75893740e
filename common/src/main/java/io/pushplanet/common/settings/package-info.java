/// Settings that all processes share.
@NullMarked
package io.pushplanet.common.settings;

import org.jspecify.annotations.NullMarked;
