package io.pushplanet.dashboard;

import io.pushplanet.common.testing.MetersTable;
import io.pushplanet.common.testing.ReferencePage;
import io.pushplanet.common.testing.SettingsTable;
import io.pushplanet.common.testing.VariablesCheck;
import org.junit.jupiter.api.Test;

/// The reference pages agree with the code of this module.
class ReferenceTest {
  private static final String MODULE = "dashboard";

  @Test
  void the_page_of_settings_is_what_the_records_say() {
    ReferencePage.named("settings.md").mustSay(MODULE, SettingsTable.of(MODULE));
  }

  @Test
  void the_page_of_metrics_has_every_meter_and_no_other() {
    MetersTable.mustBeOnThePage(MODULE);
  }

  @Test
  void each_setting_may_be_an_environment_variable_and_misspelt_ones_are_reported() {
    VariablesCheck.of(MODULE);
  }
}
