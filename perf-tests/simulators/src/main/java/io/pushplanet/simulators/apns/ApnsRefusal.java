package io.pushplanet.simulators.apns;

/// Why APNs refuses a request, with its status
/// (https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns).
/// Those of broadcast channels are on another page
/// (https://developer.apple.com/documentation/usernotifications/handling-error-responses-from-apns),
/// which we read as all with 400.
enum ApnsRefusal {
  BadChannelId(400),
  BadCollapseId(400),
  BadDeviceToken(400),
  BadExpirationDate(400),
  BadMessageId(400),
  BadPriority(400),
  BadTopic(400),
  CannotCreateChannelConfig(400),
  ChannelNotRegistered(400),
  DeviceTokenNotForTopic(400),
  DuplicateHeaders(400),
  InvalidPushType(400),
  MissingChannelId(400),
  MissingDeviceToken(400),
  MissingPushType(400),
  MissingTopic(400),
  PayloadEmpty(400),
  TopicDisallowed(400),
  TopicMismatch(400),
  BadEnvironmentKeyIdInToken(403),
  ExpiredProviderToken(403),
  InvalidProviderToken(403),
  MissingProviderToken(403),
  UnrelatedKeyIdInToken(403),
  BadPath(404),
  MethodNotAllowed(405),
  Unregistered(410),
  PayloadTooLarge(413),
  TooManyProviderTokenUpdates(429);

  final int status;

  ApnsRefusal(int status) {
    this.status = status;
  }
}
