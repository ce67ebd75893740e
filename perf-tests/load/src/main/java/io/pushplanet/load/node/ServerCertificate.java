package io.pushplanet.load.node;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/// A self-signed certificate for 127.0.0.1, valid for two days, and its key, in PEM files: for a
/// listener under measurement.
public record ServerCertificate(Path certificate, Path privateKey) {
  private static final String PASSWORD = "changeit";
  private static final Duration MADE_WITHIN = Duration.ofSeconds(60);

  /// Makes a certificate with the JDK's keytool.
  public static ServerCertificate make(Path directory) {
    Path store = directory.resolve("server.p12");
    ChildProcess keytool =
        ChildProcess.start(
            new Command(
                "keytool",
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    "server",
                    "-keyalg",
                    "EC",
                    "-groupname",
                    "secp256r1",
                    "-dname",
                    "CN=localhost",
                    "-ext",
                    "san=ip:127.0.0.1",
                    "-validity",
                    "2",
                    "-storetype",
                    "PKCS12",
                    "-storepass",
                    PASSWORD,
                    "-keystore",
                    store.toString()),
                Map.of(),
                directory,
                directory.resolve("keytool.log")));
    boolean ended = keytool.waitFor(MADE_WITHIN);
    keytool.stop(Duration.ZERO);
    if (!ended || keytool.exitCode() != 0) {
      throw new IllegalStateException("keytool failed:\n" + keytool.lastLogLines(5));
    }
    try (InputStream file = Files.newInputStream(store)) {
      KeyStore made = KeyStore.getInstance("PKCS12");
      made.load(file, PASSWORD.toCharArray());
      return new ServerCertificate(
          pem(
              directory.resolve("server.pem"),
              "CERTIFICATE",
              made.getCertificate("server").getEncoded()),
          pem(
              directory.resolve("server.key"),
              "PRIVATE KEY",
              made.getKey("server", PASSWORD.toCharArray()).getEncoded()));
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("cannot use what keytool made", e);
    }
  }

  private static Path pem(Path file, String kind, byte[] bytes) throws IOException {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return Files.writeString(
        file, "-----BEGIN " + kind + "-----\n" + lines + "\n-----END " + kind + "-----\n");
  }
}
