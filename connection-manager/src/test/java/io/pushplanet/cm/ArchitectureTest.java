package io.pushplanet.cm;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Autowired;

@AnalyzeClasses(packages = "io.pushplanet.cm", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule FEATURES_ARE_FREE_OF_CYCLES =
      slices().matching("io.pushplanet.cm.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule THE_TRANSPORT_KNOWS_NOTHING_OF_MQTT =
      noClasses()
          .that()
          .resideInAPackage("io.pushplanet.cm.transport..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pushplanet.cm.mqtt..",
              "io.pushplanet.cm.session..",
              "io.pushplanet.cm.directory..");

  @ArchTest
  static final ArchRule NO_OTHER_PROCESS_IS_KNOWN =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pushplanet.dispatcher..", "io.pushplanet.gateway..", "io.pushplanet.dashboard..");

  @ArchTest
  static final ArchRule TIME_IS_INJECTED = noClasses().should().callMethod(Instant.class, "now");

  @ArchTest
  static final ArchRule NAMES_SAY_SOMETHING =
      noClasses()
          .should()
          .haveNameMatching(".*(Manager|Impl|Util|Utils|Helper)")
          .orShould()
          .haveNameMatching(".*\\.Abstract[A-Z].*");

  @ArchTest
  static final ArchRule NOTHING_IS_INJECTED_INTO_FIELDS =
      noFields().should().beAnnotatedWith(Autowired.class);
}
