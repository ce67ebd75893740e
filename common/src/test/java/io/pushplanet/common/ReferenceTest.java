package io.pushplanet.common;

import io.pushplanet.common.testing.MetersTable;
import io.pushplanet.common.testing.ReferencePage;
import io.pushplanet.common.testing.SettingsTable;
import org.junit.jupiter.api.Test;

/// The reference pages match this module's code.
class ReferenceTest {
  private static final String MODULE = "common";

  @Test
  void the_page_of_settings_is_what_the_records_say() {
    ReferencePage.named("settings.md").mustSay(MODULE, SettingsTable.of(MODULE));
  }

  @Test
  void the_page_of_metrics_has_every_meter_and_no_other() {
    MetersTable.mustBeOnThePage(MODULE);
  }
}
