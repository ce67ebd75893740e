package io.pushplanet.quickstart.services;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.Script;
import io.pushplanet.common.settings.PlatformConfiguration;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/// A primary and a replica that takes over, under one address. The primary lives on as a replica,
/// and the connections to it stay open. Redis 6 says otherwise than Redis 7 that it is a replica.
@ParameterizedClass
@EnumSource(names = {"EMBEDDED", "INSTALLED"})
class RedisFailoverIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Script SET = Script.of("redis.call('SET', KEYS[1], ARGV[1]) return {'set'}");

  private final Path state =
      Path.of("target", "failover of Redis " + UUID.randomUUID()).toAbsolutePath();
  private final LocalServer first;
  private final LocalServer second;
  private final ChildProcess former;
  private final ChildProcess next;
  private final Address address;
  private final AnnotationConfigApplicationContext context;
  private final RedisClient client;
  private final RedisLink link;
  private final RedisClient operator = RedisClient.create();

  RedisFailoverIT(ServicesChoice choice) {
    first = server(choice, "first");
    second = server(choice, "second");
    former = first.start().await();
    next = second.start().await();
    address = new Address(first.port());
    context = platform();
    client = context.getBean(RedisClient.class);
    link = RedisLink.open(client);
  }

  @AfterEach
  void close() throws Exception {
    link.close();
    context.close();
    address.close();
    operator.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    former.kill9();
    next.kill9();
    DirectoryTree.delete(state);
  }

  @Test
  void a_command_reaches_the_new_primary() {
    link.ask(commands -> commands.set("key", "before"));

    failOver();

    Eventually.within(PATIENCE, () -> link.ask(commands -> commands.set("key", "after")));
    assertThat(known("key")).isEqualTo("after");
  }

  @Test
  void a_script_reaches_the_new_primary() {
    link.run(SET, new String[] {"key"}, "before");

    failOver();

    Eventually.within(PATIENCE, () -> link.run(SET, new String[] {"key"}, "after"));
    assertThat(known("key")).isEqualTo("after");
  }

  @Test
  void a_listener_hears_the_new_primary() {
    List<String> heard = new CopyOnWriteArrayList<>();
    StatefulRedisPubSubConnection<String, String> listener = client.connectPubSub();
    listener.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String text) {
            heard.add(text);
          }
        });
    listener.sync().subscribe("news");

    failOver();

    Eventually.within(PATIENCE, () -> link.ask(commands -> commands.set("key", "after")));
    Eventually.within(
        PATIENCE,
        () -> {
          link.ask(commands -> commands.publish("news", "after"));
          assertThat(heard).contains("after");
        });
  }

  /// The former primary never reaches its own, which would tell it the news.
  private void failOver() {
    try (StatefulRedisConnection<String, String> connection = operator.connect(uri(first))) {
      connection.sync().replicaof("127.0.0.1", Port.free());
    }
    address.leadTo(second.port());
  }

  private String known(String key) {
    try (StatefulRedisConnection<String, String> connection = operator.connect(uri(second))) {
      return connection.sync().get(key);
    }
  }

  private LocalServer server(ServicesChoice choice, String name) {
    Path directory = state.resolve(name);
    return choice == ServicesChoice.EMBEDDED
        ? RedisServer.embedded(EmbeddedFiles.ofThisBuild(), directory, Port.free())
        : RedisServer.installed(directory, Port.free()).orElseThrow();
  }

  private static RedisURI uri(LocalServer server) {
    return RedisURI.create("127.0.0.1", server.port());
  }

  private AnnotationConfigApplicationContext platform() {
    Map<String, Object> settings =
        Map.of(
            "pushplanet.redis.uri",
            "redis://127.0.0.1:" + address.port(),
            "pushplanet.master-key",
            MasterKey.generate(new SecureRandom()));
    var platform = new AnnotationConfigApplicationContext();
    platform
        .getEnvironment()
        .getPropertySources()
        .addFirst(new MapPropertySource("test", settings));
    platform.register(PlatformConfiguration.class);
    platform.refresh();
    return platform;
  }

  /// Leads to a server; to another one only new connections.
  private static final class Address implements AutoCloseable {
    private final ServerSocket listener;
    private volatile int server;

    Address(int server) {
      this.server = server;
      try {
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Thread.ofVirtual().start(this::listen);
    }

    int port() {
      return listener.getLocalPort();
    }

    void leadTo(int server) {
      this.server = server;
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }

    private void listen() {
      try {
        while (true) {
          Socket client = listener.accept();
          Socket way = new Socket(InetAddress.getLoopbackAddress(), server);
          Thread.ofVirtual().start(() -> copy(client, way));
          Thread.ofVirtual().start(() -> copy(way, client));
        }
      } catch (IOException closed) {
        // The test is over.
      }
    }

    private static void copy(Socket from, Socket to) {
      try (from;
          to) {
        from.getInputStream().transferTo(to.getOutputStream());
      } catch (IOException broken) {
        // An error here is as good as an end.
      }
    }
  }
}
