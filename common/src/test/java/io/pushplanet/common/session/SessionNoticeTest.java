package io.pushplanet.common.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.SessionNotice.Denial;
import io.pushplanet.common.session.SessionNotice.Handover;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionNotice.Takeover;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What the scripts in Redis and the nodes write.
class SessionNoticeTest {
  private static final DeviceKey D1 = new DeviceKey(new AppId("shop"), new DeviceId("d1"));

  @Test
  void each_kind_is_read() {
    assertThat(SessionNotice.parse("7|cm-1|shop/d1"))
        .contains(new Takeover(D1, new SessionOwner(new NodeId("cm-1"), 7)));
    assertThat(SessionNotice.parse("left|7|1,0|shop/d1"))
        .contains(new SessionRelease(D1, 7, "1,0"));
    assertThat(SessionNotice.parse("denied|7|1795255260|shop/d1"))
        .contains(new Denial(D1, 7, 1_795_255_260L));
    assertThat(SessionNotice.parse("handover|7|shop/d1")).contains(new Handover(D1, 7));
  }

  @Test
  void a_release_may_have_nothing_to_resume() {
    assertThat(SessionNotice.parse("left|7||shop/d1")).contains(new SessionRelease(D1, 7, ""));
  }

  @Test
  void a_release_may_name_unacknowledged_messages() {
    String one = "0190b8a0-0000-7000-8000-000000000001";
    String two = "0190b8a0-0000-7000-8000-000000000002";

    assertThat(SessionNotice.parse("left|7|1,0|" + one + "," + two + "|shop/d1"))
        .contains(
            new SessionRelease(D1, 7, "1,0", List.of(new MessageId(one), new MessageId(two))));
  }

  @Test
  void an_epoch_may_be_as_large_as_a_long() {
    assertThat(SessionNotice.parse("handover|9223372036854775807|shop/d1"))
        .contains(new Handover(D1, Long.MAX_VALUE));
    assertThat(SessionNotice.parse("handover|9223372036854775808|shop/d1")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "|",
        "||",
        "|||",
        "||||",
        "nonsense",
        "7|cm-1",
        "7|cm-1|",
        "7|cm-1|d1",
        "7|cm-1|/d1",
        "7|cm-1|shop/",
        "7|cm-1|shop/d1/d2",
        "7|cm 1|shop/d1",
        "7||shop/d1",
        "|cm-1|shop/d1",
        "x|cm-1|shop/d1",
        "7.0|cm-1|shop/d1",
        "left|7|shop/d1",
        "left|x|1,0|shop/d1",
        "left||1,0|shop/d1",
        "left|7|1,0|",
        "left|7|1,0|shop/d1|more",
        "left|7|1,0||shop/d1",
        "left|7|1,0|no-id|shop/d1",
        "denied|7|shop/d1",
        "denied|7|x|shop/d1",
        "denied|7||shop/d1",
        "denied|x|1795255260|shop/d1",
        "denied|7|1795255260|shop/d1|more",
        "handover|x|shop/d1",
        "handover|7|d1",
        "handover|7||shop/d1",
        "HANDOVER|7|shop/d1"
      })
  void a_text_in_another_form_is_no_notice(String text) {
    assertThat(SessionNotice.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"renamed|7|shop/d1", "renamed|7|1|shop/d1", "renamed|7|1|2|shop/d1", "renamed"})
  void a_kind_of_a_newer_version_is_no_notice(String text) {
    assertThat(SessionNotice.parse(text)).isEmpty();
  }
}
