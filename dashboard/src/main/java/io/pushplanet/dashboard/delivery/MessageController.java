package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.dashboard.app.AppChoice;
import io.pushplanet.dashboard.app.Apps;
import io.pushplanet.dashboard.page.Missing;
import io.pushplanet.dashboard.page.Slice;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

@Controller
class MessageController {
  private static final int PAGE = 50;

  /// Sorts after every id.
  private static final String NEWEST = "~";

  private final MessageMapper messages;
  private final Apps apps;
  private final Cancellation cancellation;
  private final Clock clock;

  MessageController(MessageMapper messages, Apps apps, Cancellation cancellation, Clock clock) {
    this.messages = messages;
    this.apps = apps;
    this.cancellation = cancellation;
    this.clock = clock;
  }

  @GetMapping("/messages")
  String list(
      @RequestParam(defaultValue = "") String app,
      @RequestParam(defaultValue = "") String before,
      @RequestParam(defaultValue = "") String id,
      Model model,
      HttpServletResponse answer) {
    if (!id.isBlank()) {
      Optional<MessageRow> found = find(id.strip());
      if (found.isPresent()) {
        return "redirect:/messages/" + found.get().id();
      }
    }
    AppChoice choice = apps.choice(app);
    model.addAttribute("apps", choice);
    model.addAttribute("app", choice.id());
    model.addAttribute("id", id.strip());
    if (!id.isBlank()) {
      model.addAttribute("first", true);
      model.addAttribute("messages", new Slice<MessageRow>(List.of(), null));
      return "messages";
    }
    if (choice.unknown()) {
      answer.setStatus(HttpServletResponse.SC_NOT_FOUND);
      model.addAttribute("problem", choice.problem());
      return "messages";
    }
    boolean first = !MessageId.isValid(before);
    List<MessageRow> rows =
        choice
            .chosen()
            .map(one -> messages.ofAppBefore(one.id(), first ? NEWEST : before, PAGE + 1))
            .orElseGet(() -> first ? newest() : before(new MessageId(before)));
    model.addAttribute("first", first);
    model.addAttribute("messages", Slice.of(rows, PAGE, row -> row.id().value()));
    return "messages";
  }

  private List<MessageRow> newest() {
    LocalDate today = clock.instant().atOffset(ZoneOffset.UTC).toLocalDate();
    return messages.before(today.plusDays(1), NEWEST, PAGE + 1);
  }

  private List<MessageRow> before(MessageId message) {
    return messages.before(message.day(), message.value(), PAGE + 1);
  }

  @GetMapping("/messages/{id}")
  String message(
      @PathVariable String id, @RequestParam(defaultValue = "") String after, Model model) {
    MessageRow message = known(id);
    String from = DeviceId.isValid(after) ? after : "";
    model.addAttribute("message", message);
    model.addAttribute(
        "deliveries",
        Slice.of(
            messages.deliveriesAfter(message.id().day(), message.id(), from, PAGE + 1),
            PAGE,
            row -> row.deviceId().value()));
    model.addAttribute("after", from);
    return "message";
  }

  @PostMapping("/messages/{id}/cancel")
  String cancel(Principal me, @PathVariable String id, RedirectAttributes flash) {
    MessageRow message = known(id);
    switch (cancellation.cancel(me.getName(), message.appId(), message.id())) {
      case Cancellation.Result.Cancelled() ->
          flash.addFlashAttribute(
              "done",
              "The message was cancelled. Devices to which it is being sent at this moment may still get it.");
      case Cancellation.Result.DoneBefore() ->
          flash.addFlashAttribute(
              "problem", "All its deliveries had ended already: nothing was left to cancel.");
      case Cancellation.Result.Refused(var why) -> flash.addFlashAttribute("problem", why);
      case Cancellation.Result.DispatcherAway(var address) ->
          flash.addFlashAttribute(
              "problem",
              "The dispatcher at "
                  + address
                  + " does not answer, so the message was not cancelled. Start it, or correct dashboard.dispatcher-url.");
      case Cancellation.Result.Unanswered(var address) ->
          flash.addFlashAttribute(
              "problem",
              "The dispatcher at "
                  + address
                  + " has not answered in time, and may have cancelled the message. Load this page again, and cancel it again if need be.");
    }
    return "redirect:/messages/" + message.id();
  }

  private MessageRow known(String id) {
    return find(id).orElseThrow(() -> new Missing("no message " + id));
  }

  /// Also in capitals, as some tools write a UUID.
  private Optional<MessageRow> find(String written) {
    String id = written.toLowerCase(Locale.ROOT);
    if (!MessageId.isValid(id)) {
      return Optional.empty();
    }
    MessageId message = new MessageId(id);
    return messages.find(message.day(), message);
  }
}
