/// Admission before any cost: rates per listener and per source address, in fixed memory.
@NullMarked
package io.pushplanet.cm.transport.gate;

import org.jspecify.annotations.NullMarked;
