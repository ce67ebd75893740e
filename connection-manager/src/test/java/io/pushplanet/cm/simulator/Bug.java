package io.pushplanet.cm.simulator;

/// What a simulation can leave out, to show that it would notice.
enum Bug {
  /// Nodes are told of no takeover and find every device their own.
  NO_FENCING,
  /// A loop that stood still goes on as if nothing had happened.
  NO_CHECK_AFTER_STANDSTILL,
  /// A loop that is stopped once more while it compares goes by what it was told before.
  NO_CHECK_WHILE_COMPARING,
  /// Gateways do not look again after parking, and nodes do not patrol.
  NO_LOOK_AFTER_PARKING,
  /// Who takes up a session leaves no mark: a node sends again what the device has acknowledged elsewhere since.
  NO_MARK_AT_RESUME,
  /// Who travelled to the directory together gets the answer of a neighbour.
  ANSWERS_MIXED_UP,
  /// Broadcasts' lists are numbered before they are committed: a node may have seen a later one first.
  NUMBERS_BEFORE_COMMITS,
  /// What the broker did not take counts as told: the next broadcast comes, and the device's position passes both.
  UNTOLD_COUNTS_AS_TOLD,
  /// A node that let a device go says how its session was also where it cannot know.
  WORD_OF_WHO_DOES_NOT_KNOW,
  /// Who takes a device over does not wait until the former node has let it go.
  NO_WAIT_FOR_THE_FORMER,
  /// Nodes do not remember which packets that they sent again were acknowledged before the parked copy came.
  LATE_ACKNOWLEDGEMENTS_FORGOTTEN,
  /// Whoever comes by a password of before its device was deleted is let in.
  DENIED_MAY_CLAIM,
  /// And whoever came by one while nobody could ask stays.
  DENIED_MAY_ANNOUNCE,
  /// And what its node says of his session, whose epoch it made up, changes that of the device as it was registered anew.
  DENIED_MAY_WRITE,
  /// The owner of a deleted device is told, and not forgotten: who has not heard it keeps the device.
  NO_NET_BELOW_DENIALS
}
