/// API keys, the master key and what is derived from it.
@NullMarked
package io.pushplanet.common.access;

import org.jspecify.annotations.NullMarked;
