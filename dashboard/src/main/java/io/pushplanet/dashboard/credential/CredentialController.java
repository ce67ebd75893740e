package io.pushplanet.dashboard.credential;

import io.pushplanet.dashboard.app.App;
import io.pushplanet.dashboard.app.Apps;
import io.pushplanet.dashboard.page.Missing;
import java.io.IOException;
import java.security.Principal;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
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
  /// What fits into the column once it is sealed. A credential has a few kilobytes.
  private static final int MOST_BYTES = 40_000;

  private final Apps apps;
  private final Credentials credentials;
  private final Clock clock;

  CredentialController(Apps apps, Credentials credentials, Clock clock) {
    this.apps = apps;
    this.credentials = credentials;
    this.clock = clock;
  }

  /// A credential with what its expiry means today.
  public record Row(StoredCredential credential, Expiry expiry) {}

  /// What a form gives to be activated.
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
    model.addAttribute("active", rows.stream().filter(row -> row.credential().active()).toList());
    model.addAttribute("retired", rows.stream().filter(row -> !row.credential().active()).toList());
    return "credentials";
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
    return activate(
        me,
        app,
        () ->
            ApnsKey.check(
                content(file),
                teamId.strip(),
                keyId.strip(),
                bundleId.strip(),
                environments(environment)),
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
    return activate(
        me,
        app,
        () ->
            ApnsCertificate.check(
                content(file),
                password,
                bundleId.strip(),
                environments(environment),
                clock.instant()),
        flash);
  }

  @PostMapping("/apps/{app}/credentials/fcm")
  String serviceAccount(
      Principal me,
      @PathVariable String app,
      @RequestParam @Nullable MultipartFile file,
      RedirectAttributes flash)
      throws IOException {
    return activate(me, app, () -> ServiceAccount.check(content(file)), flash);
  }

  @PostMapping("/apps/{app}/credentials/vapid")
  String vapidKey(
      Principal me,
      @PathVariable String app,
      @RequestParam @Nullable MultipartFile file,
      @RequestParam String contact,
      RedirectAttributes flash)
      throws IOException {
    return activate(
        me,
        app,
        () ->
            file == null || file.isEmpty()
                ? VapidKey.generate(contact.strip())
                : VapidKey.check(content(file), contact.strip()),
        flash);
  }

  @PostMapping("/apps/{app}/credentials/{id}/retire")
  String retire(
      Principal me, @PathVariable String app, @PathVariable long id, RedirectAttributes flash) {
    App found = apps.get(app);
    if (!credentials.retire(me.getName(), found.id(), id)) {
      throw new Missing("no active credential " + id);
    }
    flash.addFlashAttribute(
        "done", "The credential was retired. Nothing is sent with it any more.");
    return "redirect:/apps/" + found.id() + "/credentials";
  }

  private String activate(Principal me, String app, Check check, RedirectAttributes flash)
      throws IOException {
    App found = apps.get(app);
    try {
      CheckedCredential credential = check.run();
      credentials.activate(me.getName(), found.id(), credential);
      flash.addFlashAttribute(
          "done", "The credential is checked and active: the next push uses it.");
    } catch (RefusedCredential e) {
      flash.addFlashAttribute("problem", e.getMessage());
    }
    return "redirect:/apps/" + found.id() + "/credentials";
  }

  private static byte[] content(@Nullable MultipartFile file)
      throws RefusedCredential, IOException {
    if (file == null || file.isEmpty()) {
      throw new RefusedCredential("Choose a file first.");
    }
    if (file.getSize() > MOST_BYTES) {
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
