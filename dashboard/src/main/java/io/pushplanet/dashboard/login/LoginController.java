package io.pushplanet.dashboard.login;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class LoginController {
  @GetMapping("/login")
  String login(HttpServletRequest request, Model model) {
    WantedPage.toldTo(request).ifPresent(page -> model.addAttribute("wanted", page.path()));
    return "login";
  }
}
