/// MySQL, Redis and an AMQP broker on this machine: private instances of installed servers,
/// embedded ones, or given ones.
@NullMarked
package io.pushplanet.quickstart.services;

import org.jspecify.annotations.NullMarked;
