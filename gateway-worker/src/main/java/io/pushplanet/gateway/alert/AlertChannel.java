package io.pushplanet.gateway.alert;

import java.io.IOException;

/// A way on which alerts leave the platform. Implementations are thread-safe.
interface AlertChannel {
  /// Where the table keeps how far an alert is on its way.
  enum Name {
    WEBHOOK("send_at", "tries", "sent_at", "problem"),
    MAIL("mail_at", "mail_tries", "mailed_at", "mail_problem");

    final String due;
    final String tries;
    final String done;
    final String problem;

    Name(String due, String tries, String done, String problem) {
      this.due = due;
      this.tries = tries;
      this.done = done;
      this.problem = problem;
    }
  }

  Name name();

  /// Returns once the other side has taken it, within `gateway.alerts.request-timeout`.
  ///
  /// @throws IOException when it did not, or said nothing
  void send(Alert alert) throws IOException;
}
