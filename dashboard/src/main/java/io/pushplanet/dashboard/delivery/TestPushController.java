package io.pushplanet.dashboard.delivery;

import io.pushplanet.dashboard.app.AppChoice;
import io.pushplanet.dashboard.app.Apps;
import java.security.Principal;
import java.security.SecureRandom;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

@Controller
class TestPushController {
  private static final Set<String> AUDIENCES = Set.of("device", "user", "topic");
  private static final Set<String> ROUTES = Set.of("auto", "mqtt", "vendor");

  private final TestPush testPush;
  private final Apps apps;
  private final SecureRandom random;

  TestPushController(TestPush testPush, Apps apps, SecureRandom random) {
    this.testPush = testPush;
    this.apps = apps;
    this.random = random;
  }

  @GetMapping("/test-push")
  String form(
      @RequestParam(defaultValue = "") String app,
      @RequestParam(defaultValue = "") String device,
      Model model) {
    AppChoice choice = apps.choice(app);
    model.addAttribute("apps", choice);
    model.addAttribute("app", choice.id());
    model.addAttribute("form", new UUID(random.nextLong(), random.nextLong()));
    if (choice.unknown() && !model.containsAttribute("problem")) {
      model.addAttribute("problem", choice.problem());
    }
    if (!model.containsAttribute("draft")) {
      model.addAttribute(
          "draft",
          new TestPush.Draft(
              "device",
              device,
              "Test from the dashboard",
              "If you can read this, it works.",
              "",
              "auto"));
    }
    return "test-push";
  }

  @PostMapping("/test-push")
  String send(
      Principal me,
      @RequestParam UUID form,
      @RequestParam String app,
      @RequestParam String audienceKind,
      @RequestParam String audience,
      @RequestParam String title,
      @RequestParam String body,
      @RequestParam String data,
      @RequestParam String route,
      RedirectAttributes flash) {
    var draft = new TestPush.Draft(audienceKind, audience.strip(), title, body, data, route);
    AppChoice choice = apps.choice(app);
    switch (send(me.getName(), choice, form, draft)) {
      case TestPush.Result.Accepted(var message, var recipients) -> {
        flash.addFlashAttribute("accepted", message.value());
        flash.addFlashAttribute(
            "done", accepted(recipients) + ". It appears under its id within a second.");
      }
      case TestPush.Result.Refused(var why) -> flash.addFlashAttribute("problem", why);
      case TestPush.Result.DispatcherAway(var address) ->
          flash.addFlashAttribute(
              "problem",
              "The dispatcher at "
                  + address
                  + " does not answer, so nothing was sent. Start it, or correct dashboard.dispatcher-url.");
      case TestPush.Result.Unanswered(var address) ->
          flash.addFlashAttribute(
              "problem",
              "The dispatcher at "
                  + address
                  + " has not answered in time, and may have accepted the push. Look at the messages before you send it again.");
    }
    flash.addFlashAttribute("draft", draft);
    flash.addAttribute("app", choice.id());
    return "redirect:/test-push";
  }

  private TestPush.Result send(String by, AppChoice choice, UUID form, TestPush.Draft draft) {
    if (!AUDIENCES.contains(draft.audienceKind()) || !ROUTES.contains(draft.route())) {
      return new TestPush.Result.Refused("Choose an audience and a route.");
    }
    return choice
        .chosen()
        .map(one -> testPush.send(by, one.id(), form, draft))
        .orElseGet(() -> new TestPush.Result.Refused(choice.problem()));
  }

  private static String accepted(OptionalInt recipients) {
    if (recipients.isEmpty()) {
      return "Accepted";
    }
    int some = recipients.getAsInt();
    return "Accepted for "
        + some
        + (some == 1 ? " recipient" : " recipients")
        + ", as last counted";
  }
}
