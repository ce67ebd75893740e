package io.pushplanet.dashboard.deadletter;

import java.security.Principal;
import java.util.Optional;
import java.util.function.Predicate;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

@Controller
class DeadLetterController {
  private static final String ALL = "all";
  private static final String GONE = "This letter is no longer among the oldest.";

  private final DeadLetters letters;

  DeadLetterController(DeadLetters letters) {
    this.letters = letters;
  }

  @GetMapping("/dead-letters")
  String list(Model model) {
    DeadLetters.Look look = letters.look();
    model.addAttribute("away", look instanceof DeadLetters.Look.Unknown);
    if (look instanceof DeadLetters.Look.Known known) {
      model.addAttribute("letters", known.letters());
      model.addAttribute("waiting", known.waiting());
    }
    return "dead-letters";
  }

  /// Only for admins, because a body contains private texts and the tokens of devices.
  @GetMapping("/dead-letters/{digest}")
  String letter(Principal me, @PathVariable String digest, Model model, RedirectAttributes flash) {
    return switch (letters.look()) {
      case DeadLetters.Look.Unknown() -> {
        model.addAttribute("away", true);
        yield "dead-letters";
      }
      case DeadLetters.Look.Known(var known, _) -> {
        Optional<DeadLetter> found =
            known.stream().filter(one -> one.digest().equals(digest)).findFirst();
        if (found.isEmpty()) {
          flash.addFlashAttribute("problem", GONE);
          yield "redirect:/dead-letters";
        }
        letters.read(me.getName(), found.get());
        model.addAttribute("letter", found.get());
        yield "dead-letter";
      }
    };
  }

  /// @param letter the digest of one, or `all` that are shown
  @PostMapping("/dead-letters/replay")
  String replay(Principal me, @RequestParam String letter, RedirectAttributes flash) {
    tell(
        letters.replay(me.getName(), wanted(letter), most(letter)),
        "put back into the queue it came from",
        flash);
    return "redirect:/dead-letters";
  }

  @PostMapping("/dead-letters/drop")
  String drop(Principal me, @RequestParam String letter, RedirectAttributes flash) {
    tell(letters.drop(me.getName(), wanted(letter), most(letter)), "dropped", flash);
    return "redirect:/dead-letters";
  }

  private static Predicate<DeadLetter> wanted(String letter) {
    return one -> letter.equals(ALL) || letter.equals(one.digest());
  }

  /// Equal letters have one digest, and it does not matter which of them is taken.
  private static int most(String letter) {
    return letter.equals(ALL) ? DeadLetters.MAX : 1;
  }

  private static void tell(DeadLetters.Outcome outcome, String done, RedirectAttributes flash) {
    switch (outcome) {
      case DeadLetters.Outcome.Done(int some) when some == 0 ->
          flash.addFlashAttribute("problem", GONE);
      case DeadLetters.Outcome.Done(int some) ->
          flash.addFlashAttribute(
              "done", some + (some == 1 ? " letter: " : " letters: ") + done + ".");
      case DeadLetters.Outcome.BrokerAway(int some) ->
          flash.addFlashAttribute(
              "problem",
              "The broker went away after "
                  + some
                  + " letters, or has no queue for the next one. Nothing is lost: the others are still here."
                  + " Try again when it is back and the workers run.");
      case DeadLetters.Outcome.BrokerTakesNothing(int some) ->
          flash.addFlashAttribute(
              "problem",
              "The broker takes no messages just now: its memory or its disk runs out. "
                  + some
                  + " letters were done before it said so. Nothing is lost: try again when it has room.");
    }
  }
}
