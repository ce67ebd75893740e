package io.pushplanet.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(
    packages = "io.pushplanet.gateway",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule features_are_free_of_cycles =
      slices().matching("io.pushplanet.gateway.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule time_comes_from_a_clock =
      noClasses().should().callMethod(Instant.class, "now");

  @ArchTest
  static final ArchRule nothing_is_injected_into_fields =
      noFields().should().beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired");

  @ArchTest
  static final ArchRule names_say_what_a_thing_is =
      noClasses().should().haveNameMatching(".*(Manager|Impl|Utils?|Helper)|.*\\.Abstract[A-Z].*");

  @ArchTest
  static final ArchRule no_other_service_is_known =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pushplanet.dispatcher..", "io.pushplanet.cm..", "io.pushplanet.dashboard..");
}
