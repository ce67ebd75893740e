/// Who calls: API keys from the local cache, their scopes, their app.
@NullMarked
package io.pushplanet.dispatcher.access;

import org.jspecify.annotations.NullMarked;
