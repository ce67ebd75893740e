package io.pushplanet.common.message.target;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// The purpose of an APNs token: Apple gives an app another token for each
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
/// Background pushes go to the token for alerts, Live Activities to tokens that are not registered.
public enum ApnsPushType {
  @JsonProperty("alert")
  ALERT(""),
  @JsonProperty("voip")
  VOIP(".voip"),
  @JsonProperty("complication")
  COMPLICATION(".complication"),
  @JsonProperty("fileprovider")
  FILEPROVIDER(".pushkit.fileprovider"),
  @JsonProperty("location")
  LOCATION(".location-query"),
  @JsonProperty("pushtotalk")
  PUSHTOTALK(".voip-ptt"),
  /// Its topic is the one in the push certificate of the mobile device management server, in place
  /// of the bundle id.
  @JsonProperty("mdm")
  MDM(""),
  @JsonProperty("widgets")
  WIDGETS(".push-type.widgets"),
  @JsonProperty("controls")
  CONTROLS(".push-type.controls");

  /// The key of an MDM payload
  /// (https://developer.apple.com/documentation/devicemanagement/sending-push-notifications-to-devices).
  public static final String PUSH_MAGIC = "mdm";

  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  private static final int LARGEST_PAYLOAD_BYTES = 4_096;

  private static final int LARGEST_VOIP_BYTES = 5_120;

  private static final String KIND_OF_ALERTS = "token";

  private final String suffix;

  ApnsPushType(String suffix) {
    this.suffix = suffix;
  }

  /// As it is written in the API and in `apns-push-type`: `voip`.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public String topic(String bundleId) {
    return bundleId + suffix;
  }

  public int largestPayloadBytes() {
    return this == VOIP ? LARGEST_VOIP_BYTES : LARGEST_PAYLOAD_BYTES;
  }

  /// Whether Apple accepts it only with a provider token, not with a certificate.
  public boolean needsKey() {
    return this == LOCATION;
  }

  /// As it is written in `channel_tokens.kind`: `token` for alerts, else the word.
  public String kind() {
    return this == ALERT ? KIND_OF_ALERTS : word();
  }

  /// The type of a row's kind; empty for a kind of a newer version.
  public static Optional<ApnsPushType> ofKind(String kind) {
    return Arrays.stream(values()).filter(type -> type.kind().equals(kind)).findAny();
  }
}
