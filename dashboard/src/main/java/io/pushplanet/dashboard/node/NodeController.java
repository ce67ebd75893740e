package io.pushplanet.dashboard.node;

import io.pushplanet.common.node.NodeLease;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import io.pushplanet.dashboard.page.Missing;
import java.security.Principal;
import java.util.Optional;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/// The page of connection-manager nodes, and the drain of a node.
@Controller
class NodeController {
  private static final String BACK = "redirect:/nodes";
  private static final String REDIS_AWAY =
      "Redis, which knows where the node is, does not answer. Nothing was changed. Try again when it is back.";

  private final Nodes nodes;
  private final NodeManagement management;
  private final AuditLog audit;

  NodeController(Nodes nodes, NodeManagement management, AuditLog audit) {
    this.nodes = nodes;
    this.management = management;
    this.audit = audit;
  }

  @GetMapping("/nodes")
  String list(Model model) {
    return fill(model, "nodes");
  }

  /// The nodes alone, for the refresh.
  @GetMapping("/nodes/table")
  String table(Model model) {
    return fill(model, "nodes :: table");
  }

  private String fill(Model model, String view) {
    Nodes.Answer leases = nodes.now();
    model.addAttribute("away", leases instanceof Nodes.Answer.Unknown);
    switch (leases) {
      case Nodes.Answer.Known known -> {
        var figures = management.figures(known.nodes());
        var rows =
            known.nodes().stream()
                .map(lease -> new NodeRow(lease, figures.get(lease.node())))
                .toList();
        model.addAttribute("nodes", rows);
      }
      case Nodes.Answer.Unknown() -> {}
    }
    return view;
  }

  /// Asks for a confirmation.
  @GetMapping("/nodes/{node}/drain")
  String confirm(@PathVariable String node, Model model) {
    Optional<NodeLease> lease = find(node);
    if (lease.isEmpty()) {
      return BACK;
    }
    model.addAttribute("node", lease.get());
    return "drain";
  }

  @PostMapping("/nodes/{node}/drain")
  String drain(
      Principal me,
      @PathVariable String node,
      @RequestParam int perSecond,
      RedirectAttributes flash) {
    Optional<NodeLease> lease = find(node);
    if (lease.isEmpty()) {
      return told(Optional.of(REDIS_AWAY), "", flash);
    }
    // Recorded before the order, so that no drain is without an entry.
    audit.record(
        me.getName(),
        AuditAction.NODE_DRAINED,
        node,
        "asked to move " + perSecond + " devices a second");
    return told(
        management.drain(lease.get(), perSecond),
        node + " takes no new devices and moves those it has, " + perSecond + " a second.",
        flash);
  }

  @PostMapping("/nodes/{node}/drain/cancel")
  String cancel(Principal me, @PathVariable String node, RedirectAttributes flash) {
    Optional<NodeLease> lease = find(node);
    if (lease.isEmpty()) {
      return told(Optional.of(REDIS_AWAY), "", flash);
    }
    audit.record(
        me.getName(), AuditAction.NODE_DRAIN_CANCELLED, node, "asked to take devices again");
    return told(management.cancelDrain(lease.get()), node + " takes devices again.", flash);
  }

  /// @return empty when Redis does not answer
  private Optional<NodeLease> find(String node) {
    return switch (nodes.now()) {
      case Nodes.Answer.Known known ->
          Optional.of(
              known.nodes().stream()
                  .filter(lease -> lease.node().value().equals(node))
                  .findFirst()
                  .orElseThrow(() -> new Missing("no node " + node)));
      case Nodes.Answer.Unknown() -> Optional.empty();
    };
  }

  private static String told(Optional<String> problem, String success, RedirectAttributes flash) {
    problem.ifPresentOrElse(
        words -> flash.addFlashAttribute("problem", words),
        () -> flash.addFlashAttribute("done", success));
    return BACK;
  }
}
