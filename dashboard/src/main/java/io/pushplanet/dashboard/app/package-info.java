/// Apps and their API keys.
@NullMarked
package io.pushplanet.dashboard.app;

import org.jspecify.annotations.NullMarked;
