/// Keeps pushes until they are due, in one durable table, and brings them back.
@NullMarked
package io.pushplanet.gateway.later;

import org.jspecify.annotations.NullMarked;
