/// Sockets and pollers behind one interface: the kernel's epoll by the foreign-function interface
/// on Linux, java.nio elsewhere.
@NullMarked
package io.pushplanet.cm.transport.socket;

import org.jspecify.annotations.NullMarked;
