package io.pushplanet.dashboard;

import io.pushplanet.common.settings.PlatformConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;

/// Starts the dashboard. It reads what the other processes write, and is the only one that changes
/// apps, keys, credentials and operators. Each change is written with its audit entry and its
/// `changes` row in one transaction.
@SpringBootApplication
@Import(PlatformConfiguration.class)
@EnableConfigurationProperties(DashboardSettings.class)
public class DashboardApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(DashboardApplication.class, arguments);
  }
}
