/// JMH benchmarks of code that runs once per message.
@NullMarked
package io.pushplanet.benchmarks;

import org.jspecify.annotations.NullMarked;
