package io.pushplanet.dashboard.credential;

import java.security.Principal;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/// Shows which master keys seal the credentials, and seals them with the current one.
@Controller
class EncryptionController {
  private final Resealing resealing;

  EncryptionController(Resealing resealing) {
    this.resealing = resealing;
  }

  @GetMapping("/encryption")
  String page(Model model) {
    model.addAttribute("progress", resealing.progress());
    return "encryption";
  }

  /// The figures alone, for the refresh.
  @GetMapping("/encryption/progress")
  String progress(Model model) {
    page(model);
    return "encryption :: progress";
  }

  @PostMapping("/encryption/reseal")
  String reseal(Principal me, RedirectAttributes flash) {
    flash.addFlashAttribute(
        "done",
        resealing.start(me.getName())
            ? "The credentials are being sealed again. Sending goes on meanwhile."
            : "They are being sealed again already.");
    return "redirect:/encryption";
  }
}
