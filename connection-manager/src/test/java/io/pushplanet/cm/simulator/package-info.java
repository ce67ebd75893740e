/// Runs the node's production classes in virtual time, with faults that a seed decides.
@NullMarked
package io.pushplanet.cm.simulator;

import org.jspecify.annotations.NullMarked;
