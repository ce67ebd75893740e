/// Processes and providers that fail under load, and the account of every message.
@NullMarked
package io.pushplanet.load.bench.fault;

import org.jspecify.annotations.NullMarked;
