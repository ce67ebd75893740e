package io.pushplanet.quickstart.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Prints the lines that are added to a file.
final class LogPrinter {
  private final Path log;
  private String seen = "";

  LogPrinter(Path log) {
    this.log = log;
  }

  void printNew() {
    try {
      String now = new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
      // Whole lines only: the last one may be half written.
      String whole = now.substring(0, now.lastIndexOf('\n') + 1);
      if (whole.length() > seen.length()) {
        System.out.print(whole.substring(seen.length()));
        System.out.flush();
        seen = whole;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + log, e);
    }
  }

  boolean hasSeen(String text) {
    return seen.contains(text);
  }
}
