/// What Redis is owed.
@NullMarked
package io.pushplanet.dispatcher.debt;

import org.jspecify.annotations.NullMarked;
