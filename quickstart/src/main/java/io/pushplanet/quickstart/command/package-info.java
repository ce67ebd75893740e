/// The commands of `./pushplanet`: what an operator types, and what is said in return.
@NullMarked
package io.pushplanet.quickstart.command;

import org.jspecify.annotations.NullMarked;
