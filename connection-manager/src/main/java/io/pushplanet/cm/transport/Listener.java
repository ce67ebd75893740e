package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.net.InetSocketAddress;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One address to listen on. Port 0 takes any free one.
///
/// @param tls null for plain TCP
/// @param webSocket whether MQTT comes in WebSocket frames
/// @param pendingBytes what may wait to be read by one peer, and what that takes besides, before it is closed as a slow reader;
///     a stranger is closed sooner
/// @param trusted where only our own programs come: strangers there have a small share to themselves of what strangers may make us
///     hold, and who comes does not wait until there is room for more devices
/// @param handlers makes the handler of a new connection, on its loop
public record Listener(
    String name,
    InetSocketAddress address,
    @Nullable TlsIdentity tls,
    boolean webSocket,
    int pendingBytes,
    boolean trusted,
    Function<Connection, ConnectionHandler> handlers) {}
