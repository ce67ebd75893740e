package io.pushplanet.dashboard.app;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.page.Missing;
import java.security.Principal;
import java.util.Optional;
import java.util.Set;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

@Controller
class AppController {
  private final Apps apps;
  private final ApiKeys keys;

  AppController(Apps apps, ApiKeys keys) {
    this.apps = apps;
    this.keys = keys;
  }

  @GetMapping("/apps")
  String list(
      @RequestParam(defaultValue = "") String find,
      @RequestParam(defaultValue = "") String after,
      Model model) {
    String wanted = find.strip();
    String from = AppId.isValid(after) ? after : "";
    model.addAttribute("find", wanted);
    model.addAttribute("after", from);
    model.addAttribute("apps", apps.page(wanted, from));
    return "apps";
  }

  @PostMapping("/apps")
  String create(
      Principal me, @RequestParam String id, @RequestParam String name, RedirectAttributes flash) {
    Optional<String> problem = apps.create(me.getName(), id.strip(), name.strip());
    if (problem.isPresent()) {
      flash.addFlashAttribute("problem", problem.get());
      flash.addFlashAttribute("wantedId", id);
      flash.addFlashAttribute("wantedName", name);
      return "redirect:/apps";
    }
    flash.addFlashAttribute("done", "The app was created. Its backend needs an API key next.");
    return "redirect:/apps/" + id.strip() + "/keys";
  }

  @GetMapping("/apps/{app}")
  String app(@PathVariable String app) {
    return "redirect:/apps/" + apps.get(app).id() + "/keys";
  }

  @PostMapping("/apps/{app}/name")
  String rename(
      Principal me, @PathVariable String app, @RequestParam String name, RedirectAttributes flash) {
    App found = apps.get(app);
    apps.rename(me.getName(), found.id(), name.strip())
        .ifPresentOrElse(
            problem -> flash.addFlashAttribute("problem", problem),
            () -> flash.addFlashAttribute("done", "The app was renamed. Its id stays the same."));
    return "redirect:/apps/" + found.id() + "/keys";
  }

  @PostMapping("/apps/{app}/delete")
  String delete(Principal me, @PathVariable String app, RedirectAttributes flash) {
    App found = apps.get(app);
    if (apps.delete(me.getName(), found.id())) {
      flash.addFlashAttribute("done", "The app " + found.id() + " was deleted.");
      return "redirect:/apps";
    }
    flash.addFlashAttribute(
        "problem",
        "This app cannot be deleted: it has had a key, a credential, a device or a message.");
    return "redirect:/apps/" + found.id() + "/keys";
  }

  @GetMapping("/apps/{app}/keys")
  String keys(@PathVariable String app, Model model) {
    App found = apps.get(app);
    model.addAttribute("app", found);
    model.addAttribute("keys", keys.of(found.id()));
    model.addAttribute("keyCount", keys.count(found.id()));
    model.addAttribute("scopes", Scope.values());
    model.addAttribute("used", apps.isUsed(found.id()));
    return "keys";
  }

  @PostMapping("/apps/{app}/keys")
  String createKey(
      Principal me,
      @PathVariable String app,
      @RequestParam String name,
      @RequestParam(defaultValue = "") Set<Scope> scopes,
      RedirectAttributes flash) {
    App found = apps.get(app);
    switch (keys.create(me.getName(), found.id(), name.strip(), scopes)) {
      case ApiKeys.NewKey.Created(var key) ->
          flash.addFlashAttribute("newKey", key.text().reveal());
      case ApiKeys.NewKey.Refused(var why) -> flash.addFlashAttribute("problem", why);
    }
    return "redirect:/apps/" + found.id() + "/keys";
  }

  @PostMapping("/apps/{app}/keys/{key}/revoke")
  String revoke(
      Principal me, @PathVariable String app, @PathVariable String key, RedirectAttributes flash) {
    App found = apps.get(app);
    if (keys.revoke(me.getName(), found.id(), key)) {
      flash.addFlashAttribute(
          "done", "The key was revoked. It stops working everywhere within a second.");
    } else if (keys.exists(found.id(), key)) {
      flash.addFlashAttribute("done", "The key was revoked already.");
    } else {
      throw new Missing("no key " + key);
    }
    return "redirect:/apps/" + found.id() + "/keys";
  }
}
