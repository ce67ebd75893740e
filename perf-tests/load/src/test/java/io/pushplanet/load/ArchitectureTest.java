package io.pushplanet.load;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(
    packages = "io.pushplanet.load",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule features_are_free_of_cycles =
      slices().matching("io.pushplanet.load.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule benches_of_different_things_do_not_know_each_other =
      slices().matching("io.pushplanet.load.bench.(*)..").should().notDependOnEachOther();

  /// The auditor must not believe the code it audits.
  @ArchTest
  static final ArchRule load_knows_no_service =
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
}
