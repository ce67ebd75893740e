/// The commands of `./pushplanet` and their output.
@NullMarked
package io.pushplanet.quickstart.command;

import org.jspecify.annotations.NullMarked;
