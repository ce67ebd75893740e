/// Faults on demand: misbehaviour of a simulator in place of a good answer.
@NullMarked
package io.pushplanet.simulators.script;

import org.jspecify.annotations.NullMarked;
