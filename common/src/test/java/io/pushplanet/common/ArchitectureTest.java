package io.pushplanet.common;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(packages = "io.pushplanet", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule common_depends_on_no_service =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pushplanet.dispatcher..",
              "io.pushplanet.gateway..",
              "io.pushplanet.cm..",
              "io.pushplanet.dashboard..");

  @ArchTest
  static final ArchRule time_comes_from_a_clock =
      noClasses().should().callMethod(Instant.class, "now");

  @ArchTest
  static final ArchRule names_say_what_a_thing_is =
      noClasses().should().haveNameMatching(".*(Manager|Impl|Utils?|Helper)|.*\\.Abstract[A-Z].*");
}
