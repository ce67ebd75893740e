package io.pushplanet.dashboard.audit;

import io.pushplanet.dashboard.page.Slice;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

@Controller
class AuditController {
  private static final int PAGE = 50;

  private final AuditMapper entries;

  AuditController(AuditMapper entries) {
    this.entries = entries;
  }

  @GetMapping("/audit")
  String audit(@RequestParam(required = false) @Nullable Long before, Model model) {
    long end = before == null ? Long.MAX_VALUE : before;
    model.addAttribute("first", before == null);
    model.addAttribute(
        "entries",
        Slice.of(entries.before(end, PAGE + 1), PAGE, entry -> Long.toString(entry.id())));
    return "audit";
  }
}
