package io.pushplanet.dashboard.app;

import java.util.List;
import java.util.Optional;

/// What a page offers for the choice of an app: a list of all apps, or a field for an id where
/// there are more than [#MAX_LISTED].
///
/// @param id what was asked for; empty for no app
/// @param chosen the app with this id
/// @param listed all apps in the order of their ids; none where an id is typed
/// @param typed whether there are too many apps for a list
public record AppChoice(String id, Optional<App> chosen, List<App> listed, boolean typed) {
  public static final int MAX_LISTED = 200;

  public AppChoice {
    listed = List.copyOf(listed);
  }

  /// Whether an app was asked for that does not exist.
  public boolean unknown() {
    return !id.isEmpty() && chosen.isEmpty();
  }

  /// For the operator who asked for an app that does not exist.
  public String problem() {
    return "There is no app with the id “"
        + id
        + "”. The page Apps finds an app by a part of its id or name.";
  }
}
