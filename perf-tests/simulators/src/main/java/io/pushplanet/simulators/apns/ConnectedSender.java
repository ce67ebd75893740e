package io.pushplanet.simulators.apns;

import io.pushplanet.simulators.server.Request;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The sender at the other end of a connection: by its certificate, or by the provider token of
/// each request. One connection carries one team, and the key of its first push. After a token that
/// has expired, or came too soon, it carries nothing more.
///
/// Confined to the connection's event loop.
final class ConnectedSender {
  /// In RFC 2253 form, where the user id is written as a dotted OID or as UID.
  private static final Pattern USER_ID = Pattern.compile("(?:^|,)UID=([^,]+)");

  private final ProviderTokens providerTokens;
  private final Optional<String> certifiedTopic;
  private @Nullable ApnsKey firstKey;
  private @Nullable ApnsRefusal spoiled;

  /// What a request may do.
  sealed interface Verdict {
    /// @param certified by the connection's certificate, without a token
    record May(List<String> topics, boolean certified) implements Verdict {
      public May {
        topics = List.copyOf(topics);
      }
    }

    record MayNot(ApnsRefusal refusal) implements Verdict {}
  }

  ConnectedSender(ProviderTokens providerTokens, Optional<X509Certificate> certificate) {
    this.providerTokens = providerTokens;
    this.certifiedTopic = certificate.flatMap(ConnectedSender::topic);
  }

  private static Optional<String> topic(X509Certificate certificate) {
    Matcher user = USER_ID.matcher(certificate.getSubjectX500Principal().getName());
    return user.find() ? Optional.of(user.group(1).replace("\\", "")) : Optional.empty();
  }

  boolean hasCertificate() {
    return certifiedTopic.isPresent();
  }

  Verdict judge(Request request) {
    Optional<String> authorization = request.header("authorization");
    if (authorization.isEmpty() && certifiedTopic.isPresent()) {
      return new Verdict.May(List.of(certifiedTopic.get()), true);
    }
    String value = authorization.orElse("");
    if (!value.regionMatches(true, 0, "bearer ", 0, 7)) {
      return new Verdict.MayNot(ApnsRefusal.MissingProviderToken);
    }
    if (spoiled != null) {
      return new Verdict.MayNot(spoiled);
    }
    return switch (providerTokens.judge(value.substring(7).strip())) {
      case ProviderTokens.Verdict.Bad(ApnsRefusal why) -> refused(why);
      case ProviderTokens.Verdict.Good(ApnsKey key) -> related(key);
    };
  }

  private Verdict refused(ApnsRefusal why) {
    if (why == ApnsRefusal.ExpiredProviderToken || why == ApnsRefusal.TooManyProviderTokenUpdates) {
      spoiled = why;
    }
    return new Verdict.MayNot(why);
  }

  private Verdict related(ApnsKey key) {
    ApnsKey first = firstKey;
    if (first == null) {
      firstKey = key;
      return new Verdict.May(key.topics(), false);
    }
    if (!first.teamId().equals(key.teamId())) {
      return new Verdict.MayNot(ApnsRefusal.InvalidProviderToken);
    }
    return first.keyId().equals(key.keyId())
        ? new Verdict.May(key.topics(), false)
        : new Verdict.MayNot(ApnsRefusal.UnrelatedKeyIdInToken);
  }
}
