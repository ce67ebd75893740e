package io.pushplanet.dispatcher;

import io.pushplanet.common.testing.MetersTable;
import io.pushplanet.common.testing.ReferencePage;
import io.pushplanet.common.testing.SettingsTable;
import io.pushplanet.common.testing.VariablesCheck;
import io.pushplanet.dispatcher.problem.ProblemCode;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The reference pages agree with the code of this module.
class ReferenceTest {
  private static final String MODULE = "dispatcher-api";

  @Test
  void the_page_of_settings_is_what_the_records_say() {
    ReferencePage.named("settings.md").mustSay(MODULE, SettingsTable.of(MODULE));
  }

  @Test
  void the_page_of_problems_has_every_code() {
    String rows =
        Arrays.stream(ProblemCode.values())
            .map(code ->
                "| `%s` | %d | %s | %s |"
                    .formatted(code.word(), code.status(), code.title(), code.remedy()))
            .collect(Collectors.joining("\n"));

    ReferencePage.named("problem-codes.md")
        .mustSay(
            "ProblemCode", "| code | status | title | what to do |\n|---|---|---|---|\n" + rows);
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
