package io.pushplanet.cm.transport.socket;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// The C library's socket calls (Linux man-pages, sections 2 and 3) in the kernel's form: an error
/// is returned as its negative number. Memory is passed by address, and the caller keeps it
/// reachable. For one thread at a time, except [#signal]. Tests replace it with a fake kernel.
@SuppressWarnings("restricted")
class Syscalls {
  static final int EINTR = 4;
  static final int EAGAIN = 11;

  private static final int MSG_NOSIGNAL = 0x4000;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
  private static final VarHandle ERRNO =
      Linker.Option.captureStateLayout().varHandle(PathElement.groupElement("errno"));

  private static final MethodHandle SOCKET = find("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle BIND = find("bind", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle LISTEN = find("listen", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle GETSOCKNAME =
      find("getsockname", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle SETSOCKOPT =
      find("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle ACCEPT4 =
      find("accept4", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle RECV =
      find("recv", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle SEND =
      find("send", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle POLL = find("poll", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle SHUTDOWN = find("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle CLOSE = find("close", JAVA_INT, JAVA_INT);
  private static final MethodHandle EPOLL_CREATE1 = find("epoll_create1", JAVA_INT, JAVA_INT);
  private static final MethodHandle EPOLL_CTL =
      find("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle EPOLL_WAIT =
      find("epoll_wait", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);

  /// Called by its number, which is the same on x86-64 and AArch64, because the C library may be
  /// older than the kernel (glibc has it since 2.35, musl does not).
  private static final long EPOLL_PWAIT2 = 441;

  private static final long SIGSET_BYTES = 8;
  private static final MethodHandle SYSCALL =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("syscall"),
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG),
          CAPTURE_ERRNO,
          Linker.Option.firstVariadicArg(1));
  private static final MethodHandle EVENTFD = find("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle EVENTFD_WRITE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("eventfd_write"),
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final AddressLayout TEXT =
      ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(256, JAVA_BYTE));
  private static final MethodHandle STRERROR =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("strerror"), FunctionDescriptor.of(TEXT, JAVA_INT));

  private final MemorySegment state = Arena.ofAuto().allocate(Linker.Option.captureStateLayout());

  private static MethodHandle find(String name, MemoryLayout result, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(result, arguments),
        CAPTURE_ERRNO);
  }

  /// The error in words.
  static IOException failed(String call, int error) {
    try {
      var text = (MemorySegment) STRERROR.invokeExact(-error);
      return new IOException(text.getString(0) + " (" + call + ")");
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int socket(int family, int typeAndFlags) {
    try {
      return orError((int) SOCKET.invokeExact(state, family, typeAndFlags, 0));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int bind(int socket, long address, int bytes) {
    try {
      return orError((int) BIND.invokeExact(state, socket, address, bytes));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int listen(int socket, int backlog) {
    try {
      return orError((int) LISTEN.invokeExact(state, socket, backlog));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int getsockname(int socket, long address, long bytes) {
    try {
      return orError((int) GETSOCKNAME.invokeExact(state, socket, address, bytes));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int setsockopt(int socket, int level, int option, long value, int bytes) {
    try {
      return orError((int) SETSOCKOPT.invokeExact(state, socket, level, option, value, bytes));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int accept(int socket, long address, long bytes, int flags) {
    try {
      return orError((int) ACCEPT4.invokeExact(state, socket, address, bytes, flags));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int recv(int socket, long address, int bytes) {
    try {
      return orError((int) (long) RECV.invokeExact(state, socket, address, (long) bytes, 0));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int send(int socket, long address, int bytes) {
    try {
      return orError(
          (int) (long) SEND.invokeExact(state, socket, address, (long) bytes, MSG_NOSIGNAL));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  /// @param descriptors the address of `number` struct pollfd
  int poll(long descriptors, long number, int timeoutMillis) {
    try {
      return orError((int) POLL.invokeExact(state, descriptors, number, timeoutMillis));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int shutdown(int socket, int how) {
    try {
      return orError((int) SHUTDOWN.invokeExact(state, socket, how));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  /// The descriptor is free afterwards, whatever is returned.
  int close(int descriptor) {
    try {
      return orError((int) CLOSE.invokeExact(state, descriptor));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int epollCreate(int flags) {
    try {
      return orError((int) EPOLL_CREATE1.invokeExact(state, flags));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int epollControl(int epoll, int operation, int descriptor, long event) {
    try {
      return orError((int) EPOLL_CTL.invokeExact(state, epoll, operation, descriptor, event));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int epollWait(int epoll, long events, int most, int timeoutMillis) {
    try {
      return orError((int) EPOLL_WAIT.invokeExact(state, epoll, events, most, timeoutMillis));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  /// Since Linux 5.11.
  ///
  /// @param timeout a struct timespec
  int epollPwait2(int epoll, long events, int most, long timeout) {
    try {
      return orError(
          (int)
              (long)
                  SYSCALL.invokeExact(
                      state,
                      EPOLL_PWAIT2,
                      (long) epoll,
                      events,
                      (long) most,
                      timeout,
                      0L,
                      SIGSET_BYTES));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  int eventfd(int flags) {
    try {
      return orError((int) EVENTFD.invokeExact(state, 0, flags));
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  /// From any thread.
  static void signal(int eventfd) {
    try {
      int ignored = (int) EVENTFD_WRITE.invokeExact(eventfd, 1L);
    } catch (Throwable impossible) {
      throw broken(impossible);
    }
  }

  private int orError(int result) {
    return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
  }

  private static AssertionError broken(Throwable impossible) {
    return new AssertionError("a call of the C library threw", impossible);
  }
}
