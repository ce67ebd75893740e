/// Faults on demand: what a simulator shall do instead of answering well.
@NullMarked
package io.pushplanet.simulators.script;

import org.jspecify.annotations.NullMarked;
