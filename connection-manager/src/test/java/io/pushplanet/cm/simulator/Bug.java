package io.pushplanet.cm.simulator;

/// A mechanism that a simulation leaves out, to show that the simulator finds its absence.
enum Bug {
  /// Nodes get no notice of takeovers, and find themselves the owners of all their devices.
  NO_FENCING,
  /// A loop that stood still goes on without a comparison.
  NO_CHECK_AFTER_STANDSTILL,
  /// A loop that is stopped again while it compares uses the answers from before.
  NO_CHECK_WHILE_COMPARING,
  /// Gateways do not look again after parking, and nodes do not patrol.
  NO_LOOK_AFTER_PARKING,
  /// A resumed session is not marked with the new epoch: a node sends messages again that the
  /// device has acknowledged elsewhere since.
  NO_MARK_AT_RESUME,
  /// Each of the claims in one round trip gets the answer of its neighbour.
  ANSWERS_MIXED_UP,
  /// Broadcasts' lists are numbered before they are committed: a node may see a later list first.
  NUMBERS_BEFORE_COMMITS,
  /// An event that the broker refused counts as published: the next broadcast comes, and the
  /// device's position passes both.
  REFUSED_EVENT_COUNTS_AS_PUBLISHED,
  /// A node that released a device describes a session of which it cannot know.
  RELEASE_DESCRIBES_UNKNOWN_SESSION,
  /// A claim does not wait until the former owner has released the device.
  NO_WAIT_FOR_FORMER_OWNER,
  /// Nodes forget which resent packets were acknowledged before their parked copies came.
  LATE_ACKNOWLEDGEMENTS_FORGOTTEN,
  /// A device is let in with a password from before its deletion.
  DENIED_MAY_CLAIM,
  /// A session that came by such a password while Redis was away stays.
  DENIED_MAY_ANNOUNCE,
  /// The node of such a session, whose epoch it made up, changes the session of the device as it
  /// was registered anew.
  DENIED_MAY_WRITE,
  /// The owner of a deleted device is told, but its entry stays: a node that misses the notice
  /// keeps the device.
  DENIED_OWNER_STAYS
}
