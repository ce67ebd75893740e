package io.pushplanet.dashboard;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Controller;

@AnalyzeClasses(
    packages = "io.pushplanet.dashboard",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule features_have_no_cycles =
      slices().matching("io.pushplanet.dashboard.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule the_dashboard_depends_on_no_other_process =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pushplanet.dispatcher..", "io.pushplanet.gateway..", "io.pushplanet.cm..");

  @ArchTest
  static final ArchRule controllers_are_not_public =
      classes().that().areAnnotatedWith(Controller.class).should().notBePublic();

  @ArchTest
  static final ArchRule fields_are_not_injected =
      noFields().should().beAnnotatedWith(Autowired.class);

  @ArchTest
  static final ArchRule time_comes_from_a_clock =
      noClasses().should().callMethod(Instant.class, "now");

  @ArchTest
  static final ArchRule names_say_what_a_thing_is =
      noClasses().should().haveNameMatching(".*(Manager|Impl|Utils?|Helper)|.*\\.Abstract[A-Z].*");
}
