/// Whatever must happen later, in one durable table: retries, and the end of what waited too long in an inbox.
@NullMarked
package io.pushplanet.gateway.later;

import org.jspecify.annotations.NullMarked;
