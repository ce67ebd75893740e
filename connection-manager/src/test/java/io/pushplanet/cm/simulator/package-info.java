/// The node's production classes in virtual time, with every fault that a seed decides.
@NullMarked
package io.pushplanet.cm.simulator;

import org.jspecify.annotations.NullMarked;
