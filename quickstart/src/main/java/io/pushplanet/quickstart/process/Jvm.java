package io.pushplanet.quickstart.process;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.util.Locale;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/// Another JVM on this machine, seen from outside: its live objects and its direct buffers. Not
/// thread-safe.
public final class Jvm implements AutoCloseable {
  private static final int COLLECTIONS = 3;

  /// The collector's filler for gaps, `[Ljdk.internal.vm.FillerElement;`, which is not an object of
  /// the program.
  private static final String FILLER = "jdk.internal.vm.Filler";

  private final long pid;
  private final JMXConnector connector;
  private final MBeanServerConnection beans;

  private Jvm(long pid, JMXConnector connector, MBeanServerConnection beans) {
    this.pid = pid;
    this.connector = connector;
    this.beans = beans;
  }

  // The other side is a child process of ours, on this machine.
  @SuppressWarnings("BanJNDI")
  public static Jvm attach(long pid) {
    try {
      VirtualMachine machine = VirtualMachine.attach(Long.toString(pid));
      try {
        JMXConnector connector =
            JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()));
        return new Jvm(pid, connector, connector.getMBeanServerConnection());
      } finally {
        machine.detach();
      }
    } catch (IOException | AttachNotSupportedException e) {
      throw new IllegalStateException("cannot look into the JVM with pid " + pid, e);
    }
  }

  /// Bytes of all live objects after three collections, from the class histogram: without the
  /// memory that the collector has reserved, and without garbage.
  public long liveBytes() {
    for (int collection = 1; collection < COLLECTIONS; collection++) {
      command("gcRun");
    }
    return classHistogram()
        .lines()
        .map(line -> line.trim().split("\\s+"))
        .filter(fields -> fields.length >= 4 && fields[0].endsWith(":"))
        .filter(fields -> !fields[3].contains(FILLER))
        .mapToLong(fields -> Long.parseLong(fields[2]))
        .sum();
  }

  /// Live objects by class, after a collection.
  public String classHistogram() {
    return command("gcClassHistogram", (Object) new String[0]);
  }

  /// Bytes in direct byte buffers.
  public long directBytes() {
    try {
      Object used =
          beans.getAttribute(new ObjectName("java.nio:type=BufferPool,name=direct"), "MemoryUsed");
      return ((Number) used).longValue();
    } catch (JMException | IOException e) {
      throw unreadable(e);
    }
  }

  /// Bytes of all objects that its threads have allocated since its start, including threads that
  /// have ended. The garbage collector's own count changes only with a collection.
  public long allocatedBytes() {
    try {
      Object made =
          beans.getAttribute(
              new ObjectName("java.lang:type=Threading"), "TotalThreadAllocatedBytes");
      return ((Number) made).longValue();
    } catch (JMException | IOException e) {
      throw unreadable(e);
    }
  }

  private String command(String operation, Object... arguments) {
    try {
      String[] signature =
          arguments.length == 0 ? new String[0] : new String[] {String[].class.getName()};
      Object answer =
          beans.invoke(
              new ObjectName("com.sun.management:type=DiagnosticCommand"),
              operation,
              arguments,
              signature);
      return String.valueOf(answer);
    } catch (JMException | IOException e) {
      throw unreadable(e);
    }
  }

  private IllegalStateException unreadable(Exception cause) {
    return new IllegalStateException(
        String.format(Locale.ROOT, "the JVM with pid %d does not answer", pid), cause);
  }

  @Override
  public void close() {
    try {
      connector.close();
    } catch (IOException e) {
      // It ended before us.
    }
  }
}
