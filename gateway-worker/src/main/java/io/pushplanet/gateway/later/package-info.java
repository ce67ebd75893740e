/// Keeps pushes until they are due, in one durable table, and ends messages that have waited too
/// long.
@NullMarked
package io.pushplanet.gateway.later;

import org.jspecify.annotations.NullMarked;
