package io.pushplanet.load.client;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/// The messages answered with 202, one line each: `id<TAB>reference<TAB>device,device`. A line has
/// been passed to the operating system when [#accepted] returns, so that a killed load generator
/// loses none. It also counts requests whose message may be on its way without a 202. Thread-safe.
public final class AcceptedJournal implements AutoCloseable {
  private static final String UNSURE = "unsure";

  private final Path file;
  private final FileChannel channel;
  private final LongAdder recipients = new LongAdder();
  private final LongAdder messages = new LongAdder();
  private final LongAdder unsure = new LongAdder();

  /// The contents of a journal.
  ///
  /// @param unsure requests that ended with a 5xx or without an answer
  public record Content(List<AcceptedMessage> accepted, long unsure) {
    public Content {
      accepted = List.copyOf(accepted);
    }

    public long recipients() {
      return accepted.stream().mapToLong(message -> message.recipients().size()).sum();
    }
  }

  public AcceptedJournal(Path file) {
    this.file = file;
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      this.channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open the journal " + file, e);
    }
  }

  public Path file() {
    return file;
  }

  void accepted(MessageId id, String reference, List<DeviceId> devices) {
    String names = String.join(",", devices.stream().map(DeviceId::value).toList());
    append(id.value() + "\t" + reference + "\t" + names + "\n");
    messages.increment();
    recipients.add(devices.size());
  }

  void unsure(String reference) {
    append(UNSURE + "\t" + reference + "\t\n");
    unsure.increment();
  }

  public long messages() {
    return messages.sum();
  }

  public long recipients() {
    return recipients.sum();
  }

  public long unsure() {
    return unsure.sum();
  }

  public static Content read(Path file) {
    List<AcceptedMessage> accepted = new ArrayList<>();
    long unsure = 0;
    try {
      for (String line : Files.readAllLines(file)) {
        String[] parts = line.split("\t", -1);
        if (parts.length != 3) {
          throw new IllegalArgumentException(file + " holds a line that is no entry: " + line);
        }
        if (parts[0].equals(UNSURE)) {
          unsure++;
        } else {
          accepted.add(
              new AcceptedMessage(
                  new MessageId(parts[0]),
                  parts[1],
                  Arrays.stream(parts[2].split(",")).map(DeviceId::new).toList()));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the journal " + file, e);
    }
    return new Content(accepted, unsure);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close the journal " + file, e);
    }
  }

  private void append(String line) {
    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
    try {
      synchronized (channel) {
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the journal " + file, e);
    }
  }
}
