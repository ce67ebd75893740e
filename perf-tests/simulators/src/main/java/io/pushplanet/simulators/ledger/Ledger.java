package io.pushplanet.simulators.ledger;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// All requests to the simulators, in one append-only file of JSON lines. An entry is passed to the
/// operating system before the sender sees the answer, so that killed simulators lose none.
///
/// Thread-safe. Memory stays small: reads go to the file by a sparse index.
public final class Ledger implements AutoCloseable {
  /// Entries in one page of [#page].
  public static final int LONGEST_PAGE = 50_000;

  private static final int INDEX_STEP = 1_000;
  private static final JsonMapper JSON = JsonMapper.shared();

  private final Clock clock;
  private final FileChannel file;
  private final Path path;

  @GuardedBy("this")
  private final List<Mark> marks = new ArrayList<>();

  @GuardedBy("this")
  private final Map<Kind, Long> counts = new HashMap<>();

  @GuardedBy("this")
  private long lastSeq;

  private record Mark(long seq, long offset) {}

  /// The groups of the summary.
  public record Kind(Simulated provider, int status, String reason, boolean delivered) {}

  private Ledger(Path path, Clock clock) throws IOException {
    this.path = path;
    this.clock = clock;
    this.file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /// Opens `ledger.ndjson` in a directory; a line torn by a crash is cut off.
  public static Ledger in(Path directory, Clock clock) {
    try {
      Files.createDirectories(directory);
      Ledger ledger = new Ledger(directory.resolve("ledger.ndjson"), clock);
      ledger.recover();
      return ledger;
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot open the ledger in " + directory, e);
    }
  }

  /// Appends an entry.
  public synchronized LedgerEntry append(
      Simulated provider,
      String token,
      String id,
      int status,
      String reason,
      boolean delivered,
      Map<String, String> headers,
      JsonNode payload) {
    LedgerEntry entry =
        new LedgerEntry(
            lastSeq + 1,
            clock.instant(),
            provider,
            token,
            id,
            status,
            reason,
            delivered,
            headers,
            payload);
    byte[] line = JSON.writeValueAsBytes(entry);
    ByteBuffer bytes = ByteBuffer.allocate(line.length + 1).put(line).put((byte) '\n').flip();
    try {
      note(entry, file.position());
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + path, e);
    }
    return entry;
  }

  /// The entries after `since`, oldest first, at most [#LONGEST_PAGE]; an empty `token` means every
  /// token.
  public List<LedgerEntry> page(long since, String token) {
    List<LedgerEntry> page = new ArrayList<>();
    try (FileChannel reading = FileChannel.open(path, StandardOpenOption.READ)) {
      reading.position(offsetBefore(since));
      InputStream in = new BufferedInputStream(Channels.newInputStream(reading), 1 << 16);
      for (byte[] line = line(in); line != null; line = line(in)) {
        LedgerEntry entry = JSON.readValue(line, LedgerEntry.class);
        if (entry.seq() > since && (token.isEmpty() || entry.token().equals(token))) {
          page.add(entry);
          if (page.size() == LONGEST_PAGE) {
            break;
          }
        }
      }
      return page;
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read " + path, e);
    }
  }

  /// Every entry for a token (or all, for an empty one). For tests and small runs.
  public List<LedgerEntry> entries(String token) {
    List<LedgerEntry> all = new ArrayList<>();
    for (List<LedgerEntry> page = page(0, token);
        !page.isEmpty();
        page = page(page.getLast().seq(), token)) {
      all.addAll(page);
    }
    return all;
  }

  /// How many entries there are of each kind.
  public synchronized Map<Kind, Long> summary() {
    return Map.copyOf(counts);
  }

  /// Deletes all entries; the numbering goes on.
  public synchronized void clear() {
    try {
      file.truncate(0);
      file.position(0);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot clear " + path, e);
    }
    marks.clear();
    counts.clear();
  }

  @Override
  public synchronized void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot close " + path, e);
    }
  }

  private synchronized void recover() throws IOException {
    long whole = 0;
    InputStream in = new BufferedInputStream(Channels.newInputStream(file), 1 << 16);
    for (byte[] line = line(in); line != null; line = line(in)) {
      note(JSON.readValue(line, LedgerEntry.class), whole);
      whole += line.length + 1;
    }
    file.truncate(whole);
    file.position(whole);
  }

  private synchronized void note(LedgerEntry entry, long offset) {
    lastSeq = entry.seq();
    if (marks.isEmpty() || entry.seq() - marks.getLast().seq() >= INDEX_STEP) {
      marks.add(new Mark(entry.seq(), offset));
    }
    counts.merge(
        new Kind(entry.provider(), entry.status(), entry.reason(), entry.delivered()),
        1L,
        Long::sum);
  }

  private synchronized long offsetBefore(long since) {
    long offset = 0;
    for (Mark mark : marks) {
      if (mark.seq() > since) {
        break;
      }
      offset = mark.offset();
    }
    return offset;
  }

  /// The next whole line without its end, null at the end of the file (an unfinished line counts as
  /// the end).
  private static byte @Nullable [] line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    for (int next = in.read(); next >= 0; next = in.read()) {
      if (next == '\n') {
        return line.toByteArray();
      }
      line.write(next);
    }
    return null;
  }

  /// One entry as its JSON line.
  public static String toLine(LedgerEntry entry) {
    return new String(JSON.writeValueAsBytes(entry), StandardCharsets.UTF_8) + "\n";
  }
}
