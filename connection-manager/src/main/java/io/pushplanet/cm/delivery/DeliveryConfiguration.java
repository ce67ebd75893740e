package io.pushplanet.cm.delivery;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.OwnershipDoubts;
import io.pushplanet.cm.session.SessionTable;
import java.time.Clock;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DeliveryConfiguration {
  @Bean
  DeliveryMetrics deliveryMetrics(MeterRegistry meters) {
    return new DeliveryMetrics(meters);
  }

  @Bean
  TargetPermits targetPermits(DeliverySettings settings, MeterRegistry meters) {
    return new TargetPermits(settings.maxOpenTargets(), meters);
  }

  @Bean
  FrameTargets.Shared targetsShared(
      SessionTable table,
      TargetPermits permits,
      DeliverySettings settings,
      DeliveryMetrics metrics,
      Clock clock,
      OwnershipDoubts doubts) {
    return new FrameTargets.Shared(
        table, permits, settings, metrics, clock, System::nanoTime, doubts);
  }

  @Bean
  FrameDispatch frameDispatch(FrameTargets.Shared shared) {
    return new FrameDispatch(shared);
  }

  @Bean
  BroadcastDispatch broadcastDispatch(FrameTargets.Shared shared) {
    return new BroadcastDispatch(shared);
  }

  @Bean(destroyMethod = "shutdown")
  ExecutorService frameReaders() {
    return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("cm-frame-", 0).factory());
  }

  @Bean
  GatewayPeers gatewayPeers(
      DeliverySettings settings,
      DeliveryMetrics metrics,
      FrameDispatch dispatch,
      BroadcastDispatch broadcasts,
      ExecutorService frameReaders) {
    return new GatewayPeers(settings, metrics, dispatch, broadcasts, frameReaders);
  }
}
