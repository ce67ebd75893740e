package io.pushplanet.cm.transport.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/// Shows the newest certificate in each handshake. A handshake asks for the certificate and then
/// for its key, by the alias that it got first; so an alias names a generation, and the previous
/// generation is still available. Thread-safe.
final class ServerKeys extends X509ExtendedKeyManager {
  private volatile List<Generation> generations;

  /// The content of the files at one time.
  record Generation(long number, PrivateKey key, List<X509Certificate> chain) {
    String alias() {
      return "server-" + number;
    }
  }

  ServerKeys(PrivateKey key, List<X509Certificate> chain) {
    generations = List.of(new Generation(1, key, chain));
  }

  void replace(PrivateKey key, List<X509Certificate> chain) {
    Generation before = current();
    generations = List.of(new Generation(before.number() + 1, key, chain), before);
  }

  Generation current() {
    return generations.getFirst();
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    Generation newest = current();
    return newest.key().getAlgorithm().equals(keyType) ? newest.alias() : null;
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return chooseEngineServerAlias(keyType, issuers, null);
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    Generation named = named(alias);
    return named == null ? null : named.chain().toArray(new X509Certificate[0]);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    Generation named = named(alias);
    return named == null ? null : named.key();
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    String alias = chooseEngineServerAlias(keyType, issuers, null);
    return alias == null ? null : new String[] {alias};
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return null;
  }

  private @Nullable Generation named(String alias) {
    for (Generation generation : generations) {
      if (generation.alias().equals(alias)) {
        return generation;
      }
    }
    return null;
  }
}
