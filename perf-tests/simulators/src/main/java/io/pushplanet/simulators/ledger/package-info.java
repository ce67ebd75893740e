/// What every simulator was asked and what it answered, kept on disk.
@NullMarked
package io.pushplanet.simulators.ledger;

import org.jspecify.annotations.NullMarked;
