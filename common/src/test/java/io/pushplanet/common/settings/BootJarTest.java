package io.pushplanet.common.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BootJarTest {
  @Test
  void a_jar_within_a_boot_jar_is_known_and_so_is_the_jar_around_it() {
    String inner = "jar:nested:/opt/push-planet/dashboard-1-boot.jar/!BOOT-INF/lib/common-1.jar!/";
    assertThat(BootJar.around(inner)).hasValue("/opt/push-planet/dashboard-1-boot.jar");
  }

  @Test
  void jars_side_by_side_and_classes_in_a_directory_are_in_none() {
    assertThat(BootJar.around("file:/opt/push-planet/lib/common-1.jar")).isEmpty();
    assertThat(BootJar.around("file:/source/common/target/classes/")).isEmpty();
  }
}
