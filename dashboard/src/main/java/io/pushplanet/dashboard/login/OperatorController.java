package io.pushplanet.dashboard.login;

import java.security.Principal;
import java.time.Clock;
import java.util.Optional;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/// The page of operators for admins, and the page on which each operator changes the own password.
@Controller
class OperatorController {
  private static final String BACK = "redirect:/operators";

  private final Operators operators;
  private final OperatorAuthentication authentication;
  private final Clock clock;

  OperatorController(Operators operators, OperatorAuthentication authentication, Clock clock) {
    this.operators = operators;
    this.authentication = authentication;
    this.clock = clock;
  }

  @GetMapping("/operators")
  String list(@RequestParam(defaultValue = "") String after, Model model) {
    model.addAttribute("after", after);
    model.addAttribute("operators", operators.page(after));
    model.addAttribute("roles", Role.values());
    model.addAttribute("now", clock.instant());
    return "operators";
  }

  @PostMapping("/operators")
  String create(
      Principal me,
      @RequestParam String name,
      @RequestParam String password,
      @RequestParam String role,
      RedirectAttributes flash) {
    Optional<String> problem = operators.create(me.getName(), name.strip(), password, roleOf(role));
    if (problem.isPresent()) {
      flash.addFlashAttribute("wantedName", name);
      flash.addFlashAttribute("wantedRole", role);
    }
    return told(problem, "Operator " + name + " was created.", BACK, flash);
  }

  @PostMapping("/operators/{name}/role")
  String role(
      Principal me,
      @PathVariable String name,
      @RequestParam String role,
      RedirectAttributes flash) {
    return told(
        operators.setRole(me.getName(), name, roleOf(role)),
        name + " is now " + role + ".",
        BACK,
        flash);
  }

  @PostMapping("/operators/{name}/password")
  String password(
      Principal me,
      @PathVariable String name,
      @RequestParam String password,
      RedirectAttributes flash) {
    return told(
        operators.setPassword(me.getName(), name, password),
        "The password of " + name + " was set. Open sessions were ended.",
        BACK,
        flash);
  }

  @PostMapping("/operators/{name}/unlock")
  String unlock(Principal me, @PathVariable String name, RedirectAttributes flash) {
    return told(operators.unlock(me.getName(), name), name + " may log in again.", BACK, flash);
  }

  @PostMapping("/operators/{name}/delete")
  String delete(Principal me, @PathVariable String name, RedirectAttributes flash) {
    return told(operators.delete(me.getName(), name), name + " was deleted.", BACK, flash);
  }

  @GetMapping("/account")
  String account() {
    return "account";
  }

  @PostMapping("/account/password")
  String ownPassword(
      Principal me,
      @RequestParam String current,
      @RequestParam String wanted,
      @RequestParam String again,
      RedirectAttributes flash) {
    Optional<String> problem =
        wanted.equals(again)
            ? authentication
                .objectionTo(me.getName(), current)
                .or(() -> operators.changeOwnPassword(me.getName(), wanted))
            : Optional.of("The two new passwords differ.");
    return told(
        problem,
        "Your password was changed. Please log in again.",
        problem.isPresent() ? "redirect:/account" : "redirect:/login?changed",
        flash);
  }

  private static Role roleOf(String word) {
    try {
      return Role.parse(word);
    } catch (IllegalArgumentException e) {
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "no such role", e);
    }
  }

  private static String told(
      Optional<String> problem, String success, String view, RedirectAttributes flash) {
    problem.ifPresentOrElse(
        words -> flash.addFlashAttribute("problem", words),
        () -> flash.addFlashAttribute("done", success));
    return view;
  }
}
