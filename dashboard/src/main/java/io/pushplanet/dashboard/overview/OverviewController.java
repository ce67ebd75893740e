package io.pushplanet.dashboard.overview;

import io.pushplanet.dashboard.credential.Credentials;
import io.pushplanet.dashboard.node.Nodes;
import java.time.Clock;
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
  private final StatisticsMapper statistics;
  private final QueueDepths queues;
  private final Nodes nodes;
  private final Credentials credentials;
  private final Clock clock;

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
  }

  @GetMapping("/")
  String overview(@RequestParam(defaultValue = "hour") String span, Model model) {
    return fill(span, model, "overview");
  }

  /// The numbers alone, for the refresh.
  @GetMapping("/overview/tiles")
  String tiles(@RequestParam(defaultValue = "hour") String span, Model model) {
    return fill(span, model, "overview :: tiles");
  }

  /// Queues and nodes alone, for the refresh.
  @GetMapping("/overview/cards")
  String cards(@RequestParam(defaultValue = "hour") String span, Model model) {
    return fill(span, model, "overview :: cards");
  }

  @GetMapping("/overview/figures")
  @ResponseBody
  Figures figures(@RequestParam(defaultValue = "hour") String span) {
    return read(span(span));
  }

  private String fill(String wanted, Model model, String view) {
    Figures.Span span = span(wanted);
    model.addAttribute("span", span == Figures.Span.DAY ? "day" : "hour");
    model.addAttribute("totals", read(span).totals());
    model.addAttribute("troubles", credentials.troubles());
    model.addAttribute("now", clock.instant());
    QueueDepths.Answer depths = queues.now();
    model.addAttribute("brokerAway", depths instanceof QueueDepths.Answer.Unknown);
    switch (depths) {
      case QueueDepths.Answer.Known known -> {
        model.addAttribute("queues", known.queues());
        model.addAttribute("waiting", known.waiting());
        model.addAttribute(
            "mostWaiting",
            known.queues().stream().mapToInt(QueueDepths.Queue::messages).max().orElse(0));
      }
      case QueueDepths.Answer.Unknown() -> {}
    }
    Nodes.Answer leases = nodes.now();
    model.addAttribute("redisAway", leases instanceof Nodes.Answer.Unknown);
    switch (leases) {
      case Nodes.Answer.Known known -> {
        model.addAttribute("nodes", known.nodes());
        model.addAttribute("devices", known.devices());
      }
      case Nodes.Answer.Unknown() -> {}
    }
    return view;
  }

  private Figures read(Figures.Span span) {
    Instant now = clock.instant();
    Instant start = span.start(now);
    return Figures.of(
        statistics.since(start.atOffset(ZoneOffset.UTC).toLocalDate(), start), span, now);
  }

  private static Figures.Span span(String wanted) {
    return wanted.equals("day") ? Figures.Span.DAY : Figures.Span.HOUR;
  }
}
