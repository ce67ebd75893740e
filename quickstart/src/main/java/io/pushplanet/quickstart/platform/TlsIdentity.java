package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/// A self-signed certificate for `localhost`, made once per state directory, for the MQTT listener
/// with TLS.
///
/// @param certificate PEM
/// @param privateKey PEM, PKCS #8
public record TlsIdentity(Path certificate, Path privateKey) {
  private static final String STORE_PASSWORD = "quickstart";
  private static final Duration KEYTOOL_DEADLINE = Duration.ofSeconds(120);

  /// Makes the certificate, unless it exists.
  public static TlsIdentity in(Path state) {
    var identity =
        new TlsIdentity(state.resolve("tls/certificate.pem"), state.resolve("tls/private-key.pem"));
    if (!Files.exists(identity.certificate)) {
      identity.make(state.resolve("tls"));
    }
    return identity;
  }

  private void make(Path folder) {
    try {
      Files.createDirectories(folder);
      Path store = folder.resolve("identity.p12");
      Files.deleteIfExists(store);
      keytool(folder, store);
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(store)) {
        keys.load(in, STORE_PASSWORD.toCharArray());
      }
      OwnerOnlyFile.write(
          privateKey,
          pem("PRIVATE KEY", keys.getKey("mqtt", STORE_PASSWORD.toCharArray()).getEncoded()));
      OwnerOnlyFile.write(
          certificate, pem("CERTIFICATE", keys.getCertificate("mqtt").getEncoded()));
      Files.delete(store);
    } catch (IOException | GeneralSecurityException e) {
      throw new ProcessFailed("cannot make a certificate in " + folder + ": " + e.getMessage(), e);
    }
  }

  private static void keytool(Path folder, Path store) {
    List<String> arguments =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            "mqtt",
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-validity",
            "825",
            "-dname",
            "CN=localhost",
            "-ext",
            "san=dns:localhost,ip:127.0.0.1",
            "-storetype",
            "PKCS12",
            "-keystore",
            store.toString(),
            "-storepass",
            STORE_PASSWORD);
    ChildProcess keytool =
        ChildProcess.start(
            new Command("keytool", arguments, Map.of(), folder, folder.resolve("keytool.log")));
    if (!keytool.waitFor(KEYTOOL_DEADLINE)) {
      keytool.kill9();
    }
    keytool.stop(Duration.ZERO);
    if (keytool.exitCode() != 0) {
      throw new ProcessFailed("keytool failed:\n" + keytool.lastLogLines(5));
    }
  }

  private static String pem(String kind, byte[] content) {
    String body =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(content);
    return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n";
  }
}
