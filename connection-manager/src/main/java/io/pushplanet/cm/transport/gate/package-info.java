/// Who may come in, decided before anything is spent on it: rates per listener and per source address in fixed memory.
@NullMarked
package io.pushplanet.cm.transport.gate;

import org.jspecify.annotations.NullMarked;
