package io.pushplanet.dashboard.credential;

import io.pushplanet.dashboard.app.App;
import io.pushplanet.dashboard.app.Apps;
import io.pushplanet.dashboard.page.Missing;
import java.io.IOException;
import java.security.Principal;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

@Controller
class CredentialController {
  /// The largest secret that fits into the column once it is sealed. A credential has a few
  /// kilobytes.
  private static final int MAX_BYTES = 40_000;

  /// The ids of the candidates whose verdicts stand above all cards, so that no card repeats them.
  private static final String TOLD_OF = "toldOf";

  private final Apps apps;
  private final Credentials credentials;
  private final LiveCheck liveCheck;
  private final Clock clock;

  CredentialController(Apps apps, Credentials credentials, LiveCheck liveCheck, Clock clock) {
    this.apps = apps;
    this.credentials = credentials;
    this.liveCheck = liveCheck;
    this.clock = clock;
  }

  /// A credential, and how urgent its expiry is today.
  public record Row(StoredCredential credential, Expiry expiry) {}

  /// The credential that a form contains.
  private interface Check {
    CheckedCredential run() throws RefusedCredential, IOException;
  }

  @GetMapping("/apps/{app}/credentials")
  String list(@PathVariable String app, Model model) {
    App found = apps.get(app);
    Instant now = clock.instant();
    List<Row> rows =
        credentials.of(found.id()).stream()
            .map(credential -> new Row(credential, Expiry.of(credential.expiresAt(), now)))
            .toList();
    model.addAttribute("app", found);
    model.addAttribute("candidates", only(rows, StoredCredential::candidate));
    model.addAttribute("active", only(rows, StoredCredential::active));
    model.addAttribute("overlapping", only(rows, StoredCredential::overlapping));
    model.addAttribute("retired", only(rows, row -> row.state().equals("retired")));
    model.addAttribute("shown", rows.size());
    model.addAttribute("count", credentials.count(found.id()));
    model.addAttribute("alerts", credentials.alerts(found.id()));
    return "credentials";
  }

  private static List<Row> only(List<Row> rows, Predicate<StoredCredential> which) {
    return rows.stream().filter(row -> which.test(row.credential())).toList();
  }

  @PostMapping("/apps/{app}/credentials/p8")
  String key(
      Principal me,
      @PathVariable String app,
      @RequestParam @Nullable MultipartFile file,
      @RequestParam String teamId,
      @RequestParam String keyId,
      @RequestParam String bundleId,
      @RequestParam String environment,
      RedirectAttributes flash)
      throws IOException {
    return uploadAndActivate(
        me,
        app,
        () ->
            ApnsKey.check(
                content(file),
                teamId.strip(),
                keyId.strip(),
                bundleId.strip(),
                environments(environment)),
        Map.of(
            "p8-team",
            teamId,
            "p8-key",
            keyId,
            "p8-bundle",
            bundleId,
            "p8-environment",
            environment),
        flash);
  }

  @PostMapping("/apps/{app}/credentials/p12")
  String certificate(
      Principal me,
      @PathVariable String app,
      @RequestParam @Nullable MultipartFile file,
      @RequestParam String password,
      @RequestParam String bundleId,
      @RequestParam String environment,
      RedirectAttributes flash)
      throws IOException {
    return uploadAndActivate(
        me,
        app,
        () ->
            ApnsCertificate.check(
                content(file),
                password,
                bundleId.strip(),
                environments(environment),
                clock.instant()),
        Map.of("p12-bundle", bundleId, "p12-environment", environment),
        flash);
  }

  @PostMapping("/apps/{app}/credentials/fcm")
  String serviceAccount(
      Principal me,
      @PathVariable String app,
      @RequestParam @Nullable MultipartFile file,
      RedirectAttributes flash)
      throws IOException {
    return uploadAndActivate(me, app, () -> ServiceAccount.check(content(file)), Map.of(), flash);
  }

  @PostMapping("/apps/{app}/credentials/hms")
  String pushKitClient(
      Principal me,
      @PathVariable String app,
      @RequestParam String clientId,
      @RequestParam String clientSecret,
      RedirectAttributes flash)
      throws IOException {
    return uploadAndActivate(
        me,
        app,
        () -> PushKitClient.check(clientId.strip(), clientSecret.strip()),
        Map.of("hms-client", clientId),
        flash);
  }

  @PostMapping("/apps/{app}/credentials/vapid")
  String vapidKey(
      Principal me,
      @PathVariable String app,
      @RequestParam @Nullable MultipartFile file,
      @RequestParam String contact,
      RedirectAttributes flash)
      throws IOException {
    return uploadAndActivate(
        me,
        app,
        () ->
            file == null || file.isEmpty()
                ? VapidKey.generate(contact.strip())
                : VapidKey.check(content(file), contact.strip()),
        Map.of("vapid-contact", contact),
        flash);
  }

  @PostMapping("/apps/{app}/credentials/{id}/retire")
  String retire(
      Principal me, @PathVariable String app, @PathVariable long id, RedirectAttributes flash) {
    App found = apps.get(app);
    if (!credentials.retire(me.getName(), found.id(), id)) {
      return retiredAlready(found, id, flash);
    }
    flash.addFlashAttribute("done", "The credential was retired. Nothing more is sent with it.");
    return page(found);
  }

  /// Another operator was quicker.
  private String retiredAlready(App app, long id, RedirectAttributes flash) {
    if (credentials.one(app.id(), id).isEmpty()) {
      throw new Missing("no credential " + id);
    }
    flash.addFlashAttribute("done", "The credential was retired already.");
    return page(app);
  }

  @PostMapping("/apps/{app}/credentials/{id}/try")
  String tryNow(
      Principal me, @PathVariable String app, @PathVariable long id, RedirectAttributes flash) {
    App found = apps.get(app);
    if (!credentials.tryNow(me.getName(), found.id(), id)) {
      return retiredAlready(found, id, flash);
    }
    for (StoredCredential tried : liveCheck.await(found.id(), List.of(id))) {
      flash.addFlashAttribute(tried.accepted() ? "done" : "problem", verdict(tried));
    }
    flash.addFlashAttribute(TOLD_OF, List.of(id));
    return page(found);
  }

  @PostMapping("/apps/{app}/credentials/{id}/activate")
  String activate(
      Principal me, @PathVariable String app, @PathVariable long id, RedirectAttributes flash) {
    App found = apps.get(app);
    tellWhetherActive(credentials.activate(me.getName(), found.id(), id), found, id, flash);
    return page(found);
  }

  @PostMapping("/apps/{app}/credentials/{id}/activate-anyway")
  String activateAnyway(
      Principal me, @PathVariable String app, @PathVariable long id, RedirectAttributes flash) {
    App found = apps.get(app);
    tellWhetherActive(credentials.activateUntried(me.getName(), found.id(), id), found, id, flash);
    return page(found);
  }

  private void tellWhetherActive(boolean activated, App app, long id, RedirectAttributes flash) {
    if (activated) {
      flash.addFlashAttribute("done", "The credential is active: the next push uses it.");
    } else {
      tellWhyNot(
          "Only a credential that its provider accepts can be activated. Try it first.",
          app,
          id,
          flash);
    }
  }

  /// @param why unless another operator was quicker
  private void tellWhyNot(String why, App app, long id, RedirectAttributes flash) {
    if (credentials.one(app.id(), id).filter(StoredCredential::active).isPresent()) {
      flash.addFlashAttribute("done", "The credential is active already.");
    } else {
      flash.addFlashAttribute("problem", why);
    }
  }

  @PostMapping("/apps/{app}/credentials/{id}/roll-back")
  String rollBack(
      Principal me, @PathVariable String app, @PathVariable long id, RedirectAttributes flash) {
    App found = apps.get(app);
    if (credentials.rollBack(me.getName(), found.id(), id)) {
      flash.addFlashAttribute(
          "done", "The former credential is active again: the next push uses it.");
    } else {
      tellWhyNot("This credential is no longer kept. Upload it again.", found, id, flash);
    }
    return page(found);
  }

  private static String page(App app) {
    return "redirect:/apps/" + app.id() + "/credentials";
  }

  /// @param typed the values that the form shows again when it is refused, by the names of the
  ///     fields on the page; never a secret
  private String uploadAndActivate(
      Principal me, String app, Check check, Map<String, String> typed, RedirectAttributes flash)
      throws IOException {
    App found = apps.get(app);
    try {
      List<Long> candidates = credentials.upload(me.getName(), found.id(), check.run());
      List<String> active = new ArrayList<>();
      List<String> notActive = new ArrayList<>();
      for (StoredCredential tried : liveCheck.await(found.id(), candidates)) {
        if (credentials.activate(me.getName(), found.id(), tried.id())) {
          active.add(about(tried) + "it is active, and the next push uses it.");
        } else {
          notActive.add(verdict(tried));
        }
      }
      if (notActive.isEmpty()) {
        flash.addFlashAttribute(
            "done", "The credential is checked and active: the next push uses it.");
      } else {
        flash.addFlashAttribute("problem", String.join(" ", notActive));
        flash.addFlashAttribute(TOLD_OF, candidates);
        if (!active.isEmpty()) {
          flash.addFlashAttribute("done", String.join(" ", active));
        }
      }
    } catch (RefusedCredential e) {
      flash.addFlashAttribute("problem", e.getMessage());
      flash.addFlashAttribute("typed", typed);
    }
    return page(found);
  }

  private static String verdict(StoredCredential tried) {
    if (tried.accepted()) {
      return about(tried) + "the provider accepts it (" + tried.probeReason() + ").";
    }
    if (tried.refused()) {
      return about(tried)
          + "the provider refuses it: "
          + tried.probeReason()
          + ". "
          + tried.advice();
    }
    if (tried.beingTried()) {
      return about(tried)
          + "no gateway worker has tried it yet, "
          + standing(tried)
          + ". Is one running?";
    }
    String next =
        tried.probeAt() == null || !tried.candidate()
            ? ""
            : "It is tried again by itself; activate it when the provider accepts it.";
    return Stream.of(
            about(tried)
                + "the provider could not be asked, "
                + standing(tried)
                + ": "
                + tried.probeReason()
                + ".",
            tried.advice(),
            next)
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(" "));
  }

  private static String standing(StoredCredential tried) {
    return tried.candidate() ? "so it is not active" : "and it stays " + tried.badge();
  }

  private static String about(StoredCredential tried) {
    return tried.title() + " for " + tried.environment() + ": ";
  }

  private static byte[] content(@Nullable MultipartFile file)
      throws RefusedCredential, IOException {
    if (file == null || file.isEmpty()) {
      throw new RefusedCredential("Choose a file first.");
    }
    if (file.getSize() > MAX_BYTES) {
      throw new RefusedCredential(
          "The file has more than 40 KB; a credential has a few. Is it the right file?");
    }
    return file.getBytes();
  }

  private static List<String> environments(String wanted) throws RefusedCredential {
    return switch (wanted) {
      case "production", "sandbox" -> List.of(wanted);
      case "both" -> List.of("production", "sandbox");
      default -> throw new RefusedCredential("Choose production, sandbox or both.");
    };
  }
}
