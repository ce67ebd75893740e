/// Whether the session directory answers, and the return of the messages that wait for it.
@NullMarked
package io.pushplanet.gateway.directory;

import org.jspecify.annotations.NullMarked;
