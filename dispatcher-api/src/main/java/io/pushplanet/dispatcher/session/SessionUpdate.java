package io.pushplanet.dispatcher.session;

import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.registration.RegistrationReader;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A report of the app on a device. Fields that are null stay as they are.
public record SessionUpdate(
    @Nullable String appVersion, @Nullable String locale, @Nullable String timezone) {
  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 with every fault
  public static SessionUpdate read(ObjectNode body) {
    Findings findings = new Findings();
    Fields fields = new Fields(body, "", findings);
    SessionUpdate update =
        new SessionUpdate(
            fields.text("app_version", RegistrationReader.LONGEST_VERSION),
            RegistrationReader.locale(fields),
            RegistrationReader.timezone(fields));
    if (update.appVersion() != null && update.appVersion().indexOf('\n') >= 0) {
      fields.wrong("app_version", "not_a_version", "app_version is one line");
    }
    fields.done();
    findings.refuse();
    return update;
  }
}
