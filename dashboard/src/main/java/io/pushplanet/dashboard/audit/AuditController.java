package io.pushplanet.dashboard.audit;

import io.pushplanet.dashboard.page.Slice;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

@Controller
class AuditController {
  private static final int PAGE = 50;

  /// Sorts after every id.
  private static final String NEWEST = "9223372036854775807";

  private final AuditMapper entries;

  AuditController(AuditMapper entries) {
    this.entries = entries;
  }

  @GetMapping("/audit")
  String audit(@RequestParam(defaultValue = NEWEST) long before, Model model) {
    model.addAttribute("first", before == Long.parseLong(NEWEST));
    model.addAttribute(
        "entries",
        Slice.of(entries.before(before, PAGE + 1), PAGE, entry -> Long.toString(entry.id())));
    return "audit";
  }
}
