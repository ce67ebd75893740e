package io.pushplanet.load.client;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/// One client of the REST API; an app's backend has many. It has one connection and makes one
/// request at a time, each of them once. A message answered with 202 is in the journal before
/// [#send] returns. Not thread-safe.
public final class Sender implements AutoCloseable {
  private final URI server;
  private final AppId app;
  private final Secret apiKey;
  private final AcceptedJournal journal;
  private final HttpConnection connection;

  private record Answer(@JsonProperty("id") String id) {}

  public Sender(
      URI server, AppId app, Secret apiKey, AcceptedJournal journal, Duration answerWithin) {
    this.server = server;
    this.app = app;
    this.apiKey = apiKey;
    this.journal = journal;
    this.connection = new HttpConnection(server, answerWithin);
  }

  /// Sends one message to one device.
  ///
  /// @param reference goes into `data.ref`: letters, digits and hyphens
  /// @param delivery the JSON of `delivery`
  public SendOutcome send(DeviceId device, String reference, String delivery) {
    String body =
        "{\"audience\":{\"device\":\""
            + device.value()
            + "\"},\"content\":{\"title\":\"Shipped\",\"body\":\"Order 77 is on its way\",\"data\":{\"ref\":\""
            + reference
            + "\"}},\"delivery\":"
            + delivery
            + "}";
    return send(body, reference, List.of(device));
  }

  private SendOutcome send(String body, String reference, List<DeviceId> recipients) {
    byte[] request =
        HttpConnection.request(
            "POST",
            server,
            "/v1/apps/" + app.value() + "/messages",
            apiKey.reveal(),
            body.getBytes(StandardCharsets.UTF_8));
    try {
      HttpAnswer answer = connection.exchange(request);
      if (answer.status() == 202) {
        MessageId id = new MessageId(WireForm.read(answer.body(), Answer.class).id());
        journal.accepted(id, reference, recipients);
        return new SendOutcome.Accepted(id);
      }
      if (answer.status() >= 500) {
        journal.unsure(reference);
      }
      return new SendOutcome.Refused(answer.status(), answer.text());
    } catch (IOException | MalformedWire e) {
      journal.unsure(reference);
      return new SendOutcome.Unanswered(String.valueOf(e.getMessage()));
    }
  }

  /// Any other call.
  public HttpAnswer call(String method, String path, String body) throws IOException {
    return connection.exchange(
        HttpConnection.request(
            method, server, path, apiKey.reveal(), body.getBytes(StandardCharsets.UTF_8)));
  }

  @Override
  public void close() {
    connection.close();
  }
}
