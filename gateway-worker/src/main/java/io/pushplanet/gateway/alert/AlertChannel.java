package io.pushplanet.gateway.alert;

import java.io.IOException;

/// A channel by which alerts leave the platform. Implementations are thread-safe.
interface AlertChannel {
  /// The columns in which the table keeps an alert's progress.
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

  /// Returns once the other side has accepted the alert, within `gateway.alerts.request-timeout`.
  ///
  /// @throws IOException when it refused it, or did not answer
  void send(Alert alert) throws IOException;
}
