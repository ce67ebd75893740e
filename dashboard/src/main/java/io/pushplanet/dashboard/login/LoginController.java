package io.pushplanet.dashboard.login;

import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class LoginController {
  @GetMapping("/login")
  String login(@Nullable Principal me, HttpServletRequest request, Model model) {
    if (me != null) {
      return "redirect:/";
    }
    WantedPage.toldTo(request).ifPresent(page -> model.addAttribute("wanted", page.path()));
    return "login";
  }
}
