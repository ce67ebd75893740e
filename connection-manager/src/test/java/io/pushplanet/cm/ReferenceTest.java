package io.pushplanet.cm;

import io.pushplanet.common.testing.MetersTable;
import io.pushplanet.common.testing.ReferencePage;
import io.pushplanet.common.testing.SettingsTable;
import io.pushplanet.common.testing.VariablesCheck;
import org.junit.jupiter.api.Test;

/// The reference pages agree with this module's code.
class ReferenceTest {
  private static final String MODULE = "connection-manager";

  @Test
  void the_page_of_settings_is_what_the_records_say() {
    ReferencePage.named("settings.md").mustSay(MODULE, SettingsTable.of(MODULE));
  }

  @Test
  void the_page_of_metrics_has_every_meter_and_no_other() {
    MetersTable.mustBeOnThePage(MODULE);
  }

  @Test
  void each_setting_may_stand_in_the_environment_and_what_is_misspelt_there_is_told() {
    VariablesCheck.of(MODULE);
  }
}
