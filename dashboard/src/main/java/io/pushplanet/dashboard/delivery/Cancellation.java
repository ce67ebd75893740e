package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.delivery.MessageState;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.net.URI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.TransactionException;

/// Cancels a message like the backend of its app.
@Service
class Cancellation {
  private static final Logger LOG = LoggerFactory.getLogger(Cancellation.class);

  private final DispatcherApi api;
  private final AuditLog audit;

  Cancellation(DispatcherApi api, AuditLog audit) {
    this.api = api;
    this.audit = audit;
  }

  sealed interface Result {
    record Cancelled() implements Result {}

    /// All its deliveries had ended before.
    record DoneBefore() implements Result {}

    record Refused(String why) implements Result {}

    /// The message was not cancelled.
    record DispatcherAway(URI address) implements Result {}

    /// The dispatcher did not answer in time, and may have cancelled the message.
    record Unanswered(URI address) implements Result {}
  }

  Result cancel(String by, AppId app, MessageId message) {
    String subject = app + "/" + message;
    // Recorded first, so that no message is cancelled without an entry.
    audit.record(by, AuditAction.MESSAGE_CANCELLED, subject, "asked");
    Result result = result(api.post(app, "/messages/" + message + ":cancel", new byte[0]));
    try {
      audit.record(by, AuditAction.MESSAGE_CANCELLED, subject, words(result));
    } catch (DataAccessException | TransactionException e) {
      LOG.warn(
          "event=cancellation_not_written_down message={} reason=\"{}\"", message, e.toString());
    }
    return result;
  }

  private static Result result(DispatcherApi.Answer answer) {
    return switch (answer) {
      case DispatcherApi.Answer.Given given when given.status() == 200 ->
          given.body().path("state").asString("").equals(MessageState.DONE.word())
              ? new Result.DoneBefore()
              : new Result.Cancelled();
      case DispatcherApi.Answer.Given refusal -> new Result.Refused(refusal.objection());
      case DispatcherApi.Answer.Away(URI address) -> new Result.DispatcherAway(address);
      case DispatcherApi.Answer.Unanswered(URI address) -> new Result.Unanswered(address);
    };
  }

  private static String words(Result result) {
    return switch (result) {
      case Result.Cancelled() -> "cancelled";
      case Result.DoneBefore() -> "done before";
      case Result.Refused(_) -> "refused";
      case Result.DispatcherAway(_) -> "dispatcher away";
      case Result.Unanswered(_) -> "no answer, perhaps cancelled";
    };
  }
}
