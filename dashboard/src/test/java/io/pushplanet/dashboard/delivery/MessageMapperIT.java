package io.pushplanet.dashboard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dashboard.RunningDashboard;
import java.sql.Date;
import java.time.Clock;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MessageMapperIT {
  private static final AppId APP = new AppId("megabyte");
  private static final String NEWEST = "~";

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final MessageMapper messages = dashboard.bean(MessageMapper.class);
  private final MessageId id = new MessageIds(Clock.systemUTC(), new Random(7)).next();
  private final String audience = aboutAMegabyte();

  @BeforeEach
  void message() {
    dashboard
        .sql()
        .update(
            """
            INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at)
            VALUES (?, ?, ?, ?, '{}', '{}', NOW(3), NOW(3))
            """,
            Date.valueOf(id.day()),
            id.value(),
            APP.value(),
            audience);
  }

  @AfterEach
  void nothingStays() {
    dashboard.sql().update("DELETE FROM messages WHERE app_id = ?", APP.value());
  }

  @Test
  void lists_read_only_the_start_of_an_audience_of_a_megabyte() {
    List<MessageRow> ofAll =
        messages.before(id.day().plusDays(1), NEWEST, 100).stream()
            .filter(row -> row.id().equals(id))
            .toList();
    List<MessageRow> ofApp = messages.ofAppBefore(APP, NEWEST, 1);

    for (List<MessageRow> list : List.of(ofAll, ofApp)) {
      assertThat(list)
          .singleElement()
          .returns("a large audience", MessageRow::audienceWords)
          .extracting(row -> row.audience().length())
          .isEqualTo(MessageMapper.AUDIENCE_LISTED);
    }
    assertThat(messages.find(id.day(), id).orElseThrow().audience()).isEqualTo(audience);
  }

  private static String aboutAMegabyte() {
    List<String> users =
        IntStream.range(0, 1_000).mapToObj(i -> "the-subject-of-a-login-" + (10_000 + i)).toList();
    Audience part = new Audience.Users(users);
    return WireForm.mapper().writeValueAsString(new Audience.Or(Collections.nCopies(32, part)));
  }
}
