package io.pushplanet.dashboard.overview;

import io.pushplanet.dashboard.credential.Credentials;
import io.pushplanet.dashboard.node.Nodes;
import io.pushplanet.dashboard.overview.Figures.Span;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;

/// The first page. Its cards and charts refresh themselves every few seconds.
@Controller
class OverviewController {
  /// A little less than the time between two refreshes of a page, so that each shows new figures.
  private static final Duration FRESH = Duration.ofSeconds(4);

  private final StatisticsMapper statistics;
  private final QueueDepths queues;
  private final Nodes nodes;
  private final Credentials credentials;
  private final Clock clock;
  private final Recent<Figures> lastHour;
  private final Recent<Figures> lastDay;

  OverviewController(
      StatisticsMapper statistics,
      QueueDepths queues,
      Nodes nodes,
      Credentials credentials,
      Clock clock) {
    this.statistics = statistics;
    this.queues = queues;
    this.nodes = nodes;
    this.credentials = credentials;
    this.clock = clock;
    this.lastHour = new Recent<>(() -> read(Span.HOUR), FRESH, System::nanoTime);
    this.lastDay = new Recent<>(() -> read(Span.DAY), FRESH, System::nanoTime);
  }

  @GetMapping("/")
  String overview(@RequestParam(defaultValue = "hour") String span, Model model) {
    addTotals(span, model);
    addNodes(model);
    addCards(model);
    return "overview";
  }

  /// The numbers alone, for the refresh.
  @GetMapping("/overview/tiles")
  String tiles(@RequestParam(defaultValue = "hour") String span, Model model) {
    addTotals(span, model);
    addNodes(model);
    return "overview :: tiles";
  }

  /// Credentials, queues and nodes alone, for the refresh.
  @GetMapping("/overview/cards")
  String cards(Model model) {
    addNodes(model);
    addCards(model);
    return "overview :: cards";
  }

  @GetMapping("/overview/figures")
  @ResponseBody
  Figures figures(@RequestParam(defaultValue = "hour") String span) {
    return figures(span(span));
  }

  private void addTotals(String wanted, Model model) {
    Span span = span(wanted);
    model.addAttribute("span", span == Span.DAY ? "day" : "hour");
    model.addAttribute("totals", figures(span).totals());
  }

  private void addNodes(Model model) {
    Nodes.Answer leases = nodes.now();
    model.addAttribute("redisAway", leases instanceof Nodes.Answer.Unknown);
    switch (leases) {
      case Nodes.Answer.Known known -> {
        model.addAttribute("nodes", known.nodes());
        model.addAttribute("devices", known.devices());
      }
      case Nodes.Answer.Unknown() -> {}
    }
  }

  private void addCards(Model model) {
    model.addAttribute("troubles", credentials.troubles());
    model.addAttribute("now", clock.instant());
    QueueDepths.Answer depths = queues.now();
    model.addAttribute("brokerAway", depths instanceof QueueDepths.Answer.Unknown);
    switch (depths) {
      case QueueDepths.Answer.Known known -> {
        model.addAttribute("queues", known.queues());
        model.addAttribute(
            "mostWaiting",
            known.queues().stream().mapToInt(QueueDepths.Queue::messages).max().orElse(0));
      }
      case QueueDepths.Answer.Unknown() -> {}
    }
  }

  private Figures figures(Span span) {
    return switch (span) {
      case HOUR -> lastHour.get();
      case DAY -> lastDay.get();
    };
  }

  private Figures read(Span span) {
    Instant now = clock.instant();
    Instant start = span.start(now);
    return Figures.of(
        statistics.since(start.atOffset(ZoneOffset.UTC).toLocalDate(), start), span, now);
  }

  private static Span span(String wanted) {
    return wanted.equals("day") ? Span.DAY : Span.HOUR;
  }
}
