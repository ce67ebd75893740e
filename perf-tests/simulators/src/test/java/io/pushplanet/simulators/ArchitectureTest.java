package io.pushplanet.simulators;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(
    packages = "io.pushplanet.simulators",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule FEATURES_ARE_FREE_OF_CYCLES =
      slices().matching("io.pushplanet.simulators.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule TIME_IS_INJECTED = noClasses().should().callMethod(Instant.class, "now");

  @ArchTest
  static final ArchRule SIMULATORS_KNOW_NOTHING_OF_THE_PLATFORM =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.pushplanet.common..", "org.springframework..");
}
