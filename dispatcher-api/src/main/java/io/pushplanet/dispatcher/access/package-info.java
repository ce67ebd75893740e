/// Identifies the caller: API keys from the local cache, their scopes and their app.
@NullMarked
package io.pushplanet.dispatcher.access;

import org.jspecify.annotations.NullMarked;
