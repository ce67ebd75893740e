/// Sockets and the waiting for them, behind one seam: the kernel's epoll by the foreign-function interface on Linux, java.nio elsewhere.
@NullMarked
package io.pushplanet.cm.transport.socket;

import org.jspecify.annotations.NullMarked;
