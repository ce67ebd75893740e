package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.credential.CredentialLookup.Found;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.ProviderPlatform.VapidPair;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.hms.HmsClient;
import io.pushplanet.simulators.hms.HmsToken;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.tls.Authority.Pem;
import io.pushplanet.simulators.webpush.Subscription;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.sql.Timestamp;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/// A tenant that sends over one channel, and what the ledger may show of it.
///
/// Each of its keys has an owner of its own, which no other key may send for: a topic at APNs, a
/// project at FCM, the VAPID key itself at the push service, an app at Push Kit. So the owner of a
/// request that was accepted names its key. Two tenants of APNs share a team.
///
/// Thread-safe, but a key is changed by one thread at a time.
final class SendingTenant {
  private static final Clock CLOCK = Clock.systemUTC();

  /// Keys of the usual 2,048 bits would take most of the test's time.
  private static final int RSA_BITS = 1_024;

  /// Inserts the rows of first keys.
  static final String INSERT =
      "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret,"
          + " created_at, created_by) VALUES (?, ?, ?, ?, 'active', ?, ?, ?, 'test')";

  private static final String ENVIRONMENT = "production";

  private record Key(String kind, String detail, String secret) {
    @Override
    public String toString() {
      return "Key[" + detail + "]";
    }
  }

  /// @param token as the ledger has it
  /// @param key the owner of the only key that may send to a browser or to a device of Push Kit;
  ///     empty for other devices
  private record Addressed(Push push, String token, String key) {}

  /// @param oldest the index of the oldest key that the request may have carried
  /// @param newest the index of the newest one
  private record Sent(Addressed to, int oldest, int newest) {}

  private final ProviderPlatform platform;
  private final int number;
  private final Channel channel;
  private final List<String> owners = new CopyOnWriteArrayList<>();
  private final Queue<Sent> sent = new ConcurrentLinkedQueue<>();
  private final AtomicInteger devices = new AtomicInteger();

  /// The newest key that the worker is known to have read.
  private volatile int settled;

  SendingTenant(ProviderPlatform platform, int number) {
    this.platform = platform;
    this.number = number;
    this.channel =
        switch (number % 5) {
          case 1 -> Channel.FCM;
          case 3 -> Channel.WEBPUSH;
          case 4 -> Channel.HMS;
          default -> Channel.APNS;
        };
  }

  String app() {
    return "sender-" + number;
  }

  Channel channel() {
    return channel;
  }

  /// A browser's subscription is bound to one VAPID key and a token of Push Kit to one app, so a
  /// send meanwhile could be refused.
  boolean maySendWhileItsKeyChanges() {
    return channel != Channel.WEBPUSH && channel != Channel.HMS;
  }

  int keys() {
    return owners.size();
  }

  /// Uploads another key in place of the present one.
  void changeKey() {
    Key next = newKey();
    synchronized (platform) {
      // Uploads at the same time may wait for each other's locks in MySQL.
      platform.upload(
          app(),
          channel.word(),
          ENVIRONMENT,
          next.kind(),
          next.detail(),
          next.secret().getBytes(StandardCharsets.UTF_8));
    }
  }

  /// The row of the first key, as [#INSERT] takes it.
  Object[] firstRow() {
    Key first = newKey();
    return new Object[] {
      app(),
      channel.word(),
      ENVIRONMENT,
      first.kind(),
      first.detail(),
      platform
          .context
          .getBean(CredentialVault.class)
          .encrypt(
              new AppId(app()),
              channel.word(),
              ENVIRONMENT,
              first.secret().getBytes(StandardCharsets.UTF_8)),
      Timestamp.from(CLOCK.instant())
    };
  }

  /// A key that the vendor knows.
  private Key newKey() {
    return switch (channel) {
      case APNS -> newApnsKey();
      case FCM -> newAccount();
      case HMS -> newClient();
      default -> {
        VapidPair pair = VapidPair.make();
        owners.add(pair.publicKey());
        yield new Key("vapid", pair.detail(), pair.pem());
      }
    };
  }

  private Key newApnsKey() {
    String topic = "com.example.%s.k%d".formatted(app(), keys());
    ApnsKey.Issued issued =
        ApnsKey.issue(
            "WIRE%06d".formatted(number / 5),
            "W%06dK%02d".formatted(number, keys()),
            List.of(topic));
    platform.simulators.apnsDirectory().register(issued.key());
    owners.add(topic);
    return new Key(
        "p8",
        "{\"team_id\":\"%s\",\"key_id\":\"%s\",\"bundle_id\":\"%s\"}"
            .formatted(issued.key().teamId(), issued.key().keyId(), topic),
        issued.p8());
  }

  private Key newAccount() {
    String project = "%s-k%d".formatted(app(), keys());
    FcmAccount.Issued issued = account(project, platform.simulators.fcm().tokenUri());
    platform.simulators.fcmDirectory().register(issued.account());
    owners.add(project);
    return new Key(
        "service_account",
        "{\"project_id\":\"%s\",\"client_email\":\"%s\"}"
            .formatted(project, issued.account().clientEmail()),
        issued.json());
  }

  private Key newClient() {
    HmsClient client =
        platform.simulators.hmsDirectory().issue("%d%03d".formatted(number, keys()), true);
    owners.add(client.clientId());
    return new Key(
        "client_secret", "{\"client_id\":\"%s\"}".formatted(client.clientId()), client.secret());
  }

  private static FcmAccount.Issued account(String project, String tokenUri) {
    KeyPair pair;
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(RSA_BITS);
      pair = generator.generateKeyPair();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This JDK has no RSA", e);
    }
    FcmAccount account =
        new FcmAccount(
            project,
            "push@" + project + ".iam.gserviceaccount.com",
            "key-of-" + project,
            Pem.of("PUBLIC KEY", pair.getPublic().getEncoded()));
    return new FcmAccount.Issued(
        account,
        """
        {"type":"service_account","project_id":"%s","private_key_id":"%s","client_email":"%s",
        "token_uri":"%s","private_key":"%s"}
        """
            .formatted(
                project,
                account.privateKeyId(),
                account.clientEmail(),
                tokenUri,
                Pem.of("PRIVATE KEY", pair.getPrivate().getEncoded()).replace("\n", "\\n")));
  }

  /// Whether the worker has the newest key. From then on it may use no older one.
  boolean isSettled(CredentialCache credentials) {
    int newest = owners.size() - 1;
    if (!owners.get(newest).equals(owner(found(credentials)))) {
      return false;
    }
    settled = newest;
    return true;
  }

  private CredentialLookup<? extends Credential> found(CredentialCache credentials) {
    AppId app = new AppId(app());
    return switch (channel) {
      case APNS -> credentials.apns(app, ENVIRONMENT);
      case FCM -> credentials.fcm(app);
      case HMS -> credentials.hms(app);
      default -> credentials.webPush(app);
    };
  }

  private static String owner(CredentialLookup<? extends Credential> lookup) {
    return lookup instanceof Found<? extends Credential>(Credential credential, var _)
        ? switch (credential) {
          case Credential.ApnsKey key -> key.bundleId();
          case Credential.FcmServiceAccount account -> account.projectId();
          case Credential.VapidKey key -> key.publicKey();
          case Credential.HmsClient client -> client.clientId();
          default -> credential.toString();
        }
        : lookup.toString();
  }

  /// Sends to a device that gets nothing else.
  void send() {
    int oldest = settled;
    Addressed to = next();
    DeliveryOutcome outcome =
        platform.provider(channel).send(to.push(), to.push().recipients().getFirst());
    sent.add(new Sent(to, oldest, owners.size() - 1));
    assertThat(outcome).as(app()).isInstanceOf(Accepted.class);
  }

  private Addressed next() {
    int device = devices.getAndIncrement();
    String id = "d" + device;
    PushBuilder push =
        aPush(CLOCK).from(app()).saying(new Content("Shipped", null, Map.of("tenant", app())));
    return switch (channel) {
      case APNS -> {
        String token = "%032x%032x".formatted(number, device);
        yield new Addressed(push.toApns(id, token).build(), token, "");
      }
      case FCM -> {
        String token = app() + "-" + device;
        yield new Addressed(push.toFcm(id, token).build(), token, "");
      }
      case HMS -> {
        String token = app() + "-" + device;
        String owner = owners.getLast();
        platform.simulators.hmsDirectory().register(token, new HmsToken(owner, false));
        yield new Addressed(push.toHms(id, token).build(), token, owner);
      }
      default -> {
        String key = owners.getLast();
        Subscription browser = platform.simulators.webPushDirectory().subscribe(key);
        String json = platform.simulators.webPush().toJson(browser);
        yield new Addressed(push.toWebPush(id, json).build(), browser.id(), key);
      }
    };
  }

  /// Checks that each push has reached its device once, with this tenant's words and with a key
  /// that this tenant had then.
  ///
  /// @param byToken all entries of the vendors' ledger
  /// @return how many requests these were
  int compare(Map<String, List<LedgerEntry>> byToken) {
    assertThat(sent).as(app()).isNotEmpty();
    for (Sent one : sent) {
      assertThat(byToken.getOrDefault(one.to().token(), List.of()))
          .as("%s to %s", app(), one)
          .singleElement()
          .satisfies(entry -> {
            assertThat(entry.delivered()).isTrue();
            assertThat(entry.payload().toString()).contains("\"tenant\":\"" + app() + "\"");
            assertThat(owners.subList(one.oldest(), one.newest() + 1))
                .contains(owner(entry, one.to()));
          });
    }
    return sent.size();
  }

  private static String owner(LedgerEntry entry, Addressed to) {
    return switch (entry.provider()) {
      case APNS -> entry.headers().getOrDefault("apns-topic", "");
      case FCM -> entry.id().replaceFirst("^projects/(.*)/messages/.*$", "$1");
      case WEBPUSH, HMS -> to.key();
      default -> "";
    };
  }
}
