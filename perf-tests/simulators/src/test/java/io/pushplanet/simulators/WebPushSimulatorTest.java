package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.ScriptLine;
import io.pushplanet.simulators.tls.Authority.Pem;
import io.pushplanet.simulators.webpush.Subscription;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.KeyAgreement;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebPushSimulatorTest {
  private static final byte[] MESSAGE = "{\"id\":\"m1\"}".getBytes(StandardCharsets.UTF_8);
  private static final int POINT_BYTES = 65;

  @TempDir Path state;
  private final HandClock clock = new HandClock();
  private Simulators simulators;
  private HttpClient client;
  private KeyPair vapid;
  private Subscription browser;

  @BeforeEach
  void start() throws Exception {
    simulators = Simulators.start(Options.in(state), clock);
    client = Senders.trusting(simulators.authority());
    vapid = pair();
    browser = simulators.webPushDirectory().subscribe(base64(point(vapid.getPublic())));
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    simulators.close();
  }

  @Test
  void a_readable_message_is_accepted_and_recorded_in_clear() throws Exception {
    HttpResponse<String> answer = send(browser, headers(), sealed(browser, MESSAGE));

    assertThat(answer.statusCode()).isEqualTo(201);
    assertThat(answer.headers().firstValue("location").orElse(""))
        .startsWith(simulators.webPush().origin() + "/message/");
    LedgerEntry entry = simulators.ledger().entries(browser.id()).getFirst();
    assertThat(entry.delivered()).isTrue();
    assertThat(entry.payload().path("id").asString()).isEqualTo("m1");
    assertThat(entry.headers()).containsEntry("ttl", "60");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ttl | | 400 | TTL",
        "ttl | -1 | 400 | TTL",
        "urgency | urgent | 400 | Urgency",
        "topic | a b | 400 | Topic",
        "topic | 123456789012345678901234567890123 | 400 | Topic",
        "content-encoding | aesgcm | 400 | aes128gcm",
        "authorization | | 401 | no authorization",
        "authorization | WebPush x | 401 | vapid",
        "authorization | vapid t=a.b.c | 401 | missing",
      })
  void a_header_that_is_missing_or_wrong_is_refused(
      String name, String value, int status, String reason) throws Exception {
    Map<String, String> headers = headers();
    headers.remove(name);
    if (value != null) {
      headers.put(name, value);
    }

    HttpResponse<String> answer = send(browser, headers, sealed(browser, MESSAGE));

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).contains(reason);
    assertThat(simulators.ledger().entries(browser.id()).getFirst().delivered()).isFalse();
  }

  @Test
  void a_token_is_for_this_origin_and_a_day_at_most_and_of_the_right_key() throws Exception {
    String origin = simulators.webPush().origin();
    long now = clock.instant().getEpochSecond();

    assertThat(refusal(jwt("https://elsewhere", now + 60, vapid), vapid)).contains("aud");
    assertThat(refusal(jwt(origin, now - 1, vapid), vapid)).contains("expired");
    assertThat(refusal(jwt(origin, now + 86_401, vapid), vapid)).contains("24 hours");
    assertThat(refusal(jwt(origin, now + 60, pair()), vapid)).contains("not signed");
    KeyPair other = pair();
    assertThat(refusal(jwt(origin, now + 60, other), other)).contains("not the key");
  }

  @Test
  void an_unreadable_message_is_refused() throws Exception {
    byte[] body = sealed(browser, MESSAGE);
    body[body.length - 1] ^= 1;

    assertThat(send(browser, headers(), body).body()).contains("does not open");
    assertThat(send(browser, headers(), new byte[10]).body()).contains("does not open");
    assertThat(send(browser, headers(), new byte[4_097]).statusCode()).isEqualTo(413);
    Subscription another = simulators.webPushDirectory().subscribe("");
    assertThat(send(another, headers(), sealed(browser, MESSAGE)).statusCode()).isEqualTo(400);
  }

  @Test
  void a_subscription_that_is_gone_or_unknown_answers_so() throws Exception {
    simulators.webPushDirectory().mark(browser.id(), true);

    assertThat(send(browser, headers(), sealed(browser, MESSAGE)).statusCode()).isEqualTo(410);
    assertThat(
            send(new Subscription("never", "", "", "", ""), headers(), sealed(browser, MESSAGE))
                .statusCode())
        .isEqualTo(404);
  }

  @Test
  void a_script_sets_the_answer() throws Exception {
    simulators
        .script()
        .add(
            ScriptLine.next(
                Simulated.WEBPUSH, 1, Fate.answer(429, "slow").retryAfter(Duration.ofSeconds(9))));

    HttpResponse<String> answer = send(browser, headers(), sealed(browser, MESSAGE));

    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.headers().firstValue("retry-after")).contains("9");
    assertThat(send(browser, headers(), sealed(browser, MESSAGE)).statusCode()).isEqualTo(201);
  }

  @Test
  void subscriptions_outlive_a_restart() throws Exception {
    simulators.close();
    simulators = Simulators.start(Options.in(state), clock);

    assertThat(send(browser, headers(), sealed(browser, MESSAGE)).statusCode()).isEqualTo(201);
  }

  private String refusal(String jwt, KeyPair key) throws Exception {
    Map<String, String> headers = headers();
    headers.put("authorization", "vapid t=" + jwt + ", k=" + base64(point(key.getPublic())));
    HttpResponse<String> answer = send(browser, headers, sealed(browser, MESSAGE));
    assertThat(answer.statusCode()).isIn(401, 403);
    return answer.body();
  }

  private Map<String, String> headers() {
    Map<String, String> headers = new HashMap<>();
    headers.put("ttl", "60");
    headers.put("content-encoding", "aes128gcm");
    String jwt =
        jwt(simulators.webPush().origin(), clock.instant().getEpochSecond() + 3_600, vapid);
    headers.put("authorization", "vapid t=" + jwt + ", k=" + base64(point(vapid.getPublic())));
    return headers;
  }

  private static String jwt(String audience, long expiresAt, KeyPair key) {
    return Senders.jwt(
        "{\"typ\":\"JWT\",\"alg\":\"ES256\"}",
        "{\"aud\":\"%s\",\"exp\":%d,\"sub\":\"mailto:a@example.com\"}"
            .formatted(audience, expiresAt),
        Pem.of("PRIVATE KEY", key.getPrivate().getEncoded()),
        "EC",
        "SHA256withECDSAinP1363Format");
  }

  private HttpResponse<String> send(Subscription to, Map<String, String> headers, byte[] body)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(simulators.webPush().origin() + "/push/" + to.id()))
            .timeout(Duration.ofSeconds(60))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /// RFC 8291 by the JDK's own HKDF, which the simulator does not use.
  private static byte[] sealed(Subscription to, byte[] message) throws Exception {
    byte[] theirs = Base64.getUrlDecoder().decode(to.p256dh());
    byte[] auth = Base64.getUrlDecoder().decode(to.auth());
    KeyPair mine = pair();
    byte[] point = point(mine.getPublic());
    KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
    agreement.init(mine.getPrivate());
    agreement.doPhase(publicKey(theirs), true);
    byte[] info =
        ByteBuffer.allocate(14 + 2 * POINT_BYTES)
            .put("WebPush: info\0".getBytes(StandardCharsets.US_ASCII))
            .put(theirs)
            .put(point)
            .array();
    byte[] ikm = derived(auth, agreement.generateSecret(), info, 32);
    byte[] salt = new byte[16];
    byte[] key = derived(salt, ikm, ascii("Content-Encoding: aes128gcm\0"), 16);
    byte[] nonce = derived(salt, ikm, ascii("Content-Encoding: nonce\0"), 12);
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(
        Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
    byte[] padded = Arrays.copyOf(message, message.length + 1);
    padded[message.length] = 2;
    byte[] record = cipher.doFinal(padded);
    return ByteBuffer.allocate(86 + record.length)
        .put(salt)
        .putInt(4_096)
        .put((byte) POINT_BYTES)
        .put(point)
        .put(record)
        .array();
  }

  private static byte[] derived(byte[] salt, byte[] secret, byte[] info, int length)
      throws Exception {
    return KDF.getInstance("HKDF-SHA256")
        .deriveData(
            HKDFParameterSpec.ofExtract().addSalt(salt).addIKM(secret).thenExpand(info, length));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static KeyPair pair() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  /// The encoding of an X.509 key on P-256 ends with its point.
  private static byte[] point(PublicKey key) {
    byte[] encoded = key.getEncoded();
    return Arrays.copyOfRange(encoded, encoded.length - POINT_BYTES, encoded.length);
  }

  private static PublicKey publicKey(byte[] point) throws Exception {
    byte[] like = pair().getPublic().getEncoded();
    System.arraycopy(point, 0, like, like.length - POINT_BYTES, POINT_BYTES);
    return KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(like));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
