/// TLS 1.3 over the event loops' sockets with the JDK's engine.
@NullMarked
package io.pushplanet.cm.transport.tls;

import org.jspecify.annotations.NullMarked;
