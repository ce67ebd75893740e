package io.pushplanet.simulators.fcm;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Conditions on topics: at most five, joined by `&&` and `||`, with `!` and brackets
/// (https://firebase.google.com/docs/cloud-messaging/send-topic-messages).
final class Conditions {
  private static final int MAX_TOPICS = 5;

  private static final Pattern TEST =
      Pattern.compile("'[a-zA-Z0-9-_.~%]{1,900}'\\s+in\\s+topics(?![a-zA-Z])");

  private static final Pattern REST = Pattern.compile("[ &|!()]*");

  private Conditions() {}

  /// Each test becomes a `t`, and each valid combination becomes a `t`, until nothing is left to
  /// combine.
  static boolean hold(String condition) {
    Matcher tests = TEST.matcher(condition);
    long topics = tests.results().count();
    if (topics == 0 || topics > MAX_TOPICS || !REST.matcher(tests.replaceAll("")).matches()) {
      return false;
    }
    String left = tests.replaceAll("t").replace(" ", "");
    String before;
    do {
      before = left;
      left = left.replace("!t", "t").replace("(t)", "t").replaceAll("t(&&|\\|\\|)t", "t");
    } while (!left.equals(before));
    return left.equals("t");
  }
}
