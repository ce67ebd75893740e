package io.pushplanet.dashboard.node;

import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class NodeController {
  private final Nodes nodes;

  NodeController(Nodes nodes) {
    this.nodes = nodes;
  }

  @GetMapping("/nodes")
  String list(Model model) {
    return fill(model, "nodes");
  }

  /// The table alone, for the refresh.
  @GetMapping("/nodes/table")
  String table(Model model) {
    return fill(model, "nodes :: table");
  }

  private String fill(Model model, String view) {
    Nodes.Answer leases = nodes.now();
    model.addAttribute("away", leases instanceof Nodes.Answer.Unknown);
    switch (leases) {
      case Nodes.Answer.Known known -> {
        model.addAttribute("nodes", known.nodes());
        model.addAttribute("devices", known.devices());
      }
      case Nodes.Answer.Unknown() -> {}
    }
    return view;
  }
}
