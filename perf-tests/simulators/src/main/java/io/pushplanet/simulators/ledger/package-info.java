/// The requests to all simulators and their answers, kept on disk.
@NullMarked
package io.pushplanet.simulators.ledger;

import org.jspecify.annotations.NullMarked;
