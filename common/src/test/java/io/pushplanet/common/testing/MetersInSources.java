package io.pushplanet.common.testing;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// Finds the meters that sources register, with the compiler's own parser: also those that a
/// running process registers only after some event. It sees Micrometer's own calls
/// (`registry.counter("name", …)`, `Timer.builder("name")…`) with the name as one literal.
final class MetersInSources extends TreePathScanner<Void, Void> {
  private static final Map<String, String> CALLS =
      Map.of("counter", "counter", "gauge", "gauge", "summary", "summary", "timer", "timer");
  private static final Map<String, String> BUILDERS =
      Map.of(
          "Counter", "counter",
          "FunctionCounter", "counter",
          "Gauge", "gauge",
          "TimeGauge", "gauge",
          "DistributionSummary", "summary",
          "Timer", "timer",
          "FunctionTimer", "timer");

  private final SortedMap<String, Meter> meters = new TreeMap<>();

  private MetersInSources() {}

  static SortedMap<String, Meter> below(Path folder) {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var found = new MetersInSources();
    try (StandardJavaFileManager files =
            compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        Stream<Path> tree = Files.walk(folder)) {
      List<Path> sources = tree.filter(file -> file.toString().endsWith(".java")).toList();
      var task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, List.of(), null, files.getJavaFileObjectsFromPaths(sources));
      for (CompilationUnitTree unit : task.parse()) {
        found.scan(unit, null);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found.meters;
  }

  @Override
  public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
    if (call.getMethodSelect() instanceof MemberSelectTree select) {
      String method = select.getIdentifier().toString();
      String owner = simpleName(select.getExpression());
      List<? extends ExpressionTree> given = call.getArguments();
      if (CALLS.containsKey(method)) {
        literal(given, 0).ifPresent(name -> add(name, CALLS.get(method), "", tagsOf(given, 1), ""));
      } else if (method.equals("builder") && BUILDERS.containsKey(owner)) {
        literal(given, 0).ifPresent(name -> addBuilt(name, BUILDERS.get(owner)));
      } else if (method.equals("monitor") && owner.equals("CaffeineCacheMetrics")) {
        literal(given, 2)
            .ifPresent(cache -> add("cache", "cache", "", Map.of("cache", one(cache)), ""));
      }
    }
    return super.visitMethodInvocation(call, nothing);
  }

  /// Follows the chain of calls after `builder(…)` outwards.
  private void addBuilt(String name, String type) {
    Map<String, SortedSet<String>> tags = new TreeMap<>();
    String description = "";
    String unit = "";
    TreePath path = getCurrentPath();
    while (path.getParentPath().getLeaf() instanceof MemberSelectTree next
        && path.getParentPath().getParentPath().getLeaf() instanceof MethodInvocationTree call) {
      switch (next.getIdentifier().toString()) {
        case "tag", "tags" -> tags.putAll(tagsOf(call.getArguments(), 0));
        case "description" -> description = literal(call.getArguments(), 0).orElse("");
        case "baseUnit" -> unit = literal(call.getArguments(), 0).orElse("");
        default -> {}
      }
      path = path.getParentPath().getParentPath();
    }
    add(name, type, unit, tags, description);
  }

  private void add(
      String name,
      String type,
      String unit,
      Map<String, SortedSet<String>> tags,
      String description) {
    String base = name.replace('.', '_') + (unit.isEmpty() ? "" : "_" + unit);
    String shown =
        switch (type) {
          case "counter" -> base + "_total";
          case "timer" -> base + "_seconds";
          default -> base;
        };
    meters.merge(shown, new Meter(shown, type, new TreeMap<>(tags), description), Meter::and);
  }

  /// Pairs of name and value from `first` on, and `Tag.of(name, value)` anywhere in there.
  private static Map<String, SortedSet<String>> tagsOf(
      List<? extends ExpressionTree> given, int first) {
    Map<String, SortedSet<String>> tags = new TreeMap<>();
    for (int at = first; at + 1 < given.size(); at += 2) {
      SortedSet<String> values =
          literal(given, at + 1).map(MetersInSources::one).orElseGet(TreeSet::new);
      literal(given, at).ifPresent(tag -> tags.put(tag, values));
    }
    for (ExpressionTree argument : given.subList(first, given.size())) {
      if (argument instanceof MethodInvocationTree call
          && call.getMethodSelect() instanceof MemberSelectTree select
          && select.getIdentifier().contentEquals("of")) {
        tags.putAll(tagsOf(call.getArguments(), 0));
      }
    }
    return tags;
  }

  private static Optional<String> literal(List<? extends ExpressionTree> given, int at) {
    return at < given.size()
            && given.get(at) instanceof LiteralTree literal
            && literal.getValue() instanceof String text
        ? Optional.of(text)
        : Optional.empty();
  }

  private static SortedSet<String> one(String value) {
    return new TreeSet<>(List.of(value));
  }

  private static String simpleName(ExpressionTree expression) {
    String name = expression.toString();
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
