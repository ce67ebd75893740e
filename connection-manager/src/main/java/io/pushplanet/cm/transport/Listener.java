package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.net.InetSocketAddress;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One address to listen on. Port 0 takes any free one.
///
/// @param tls null for plain TCP
/// @param webSocket whether MQTT comes in WebSocket frames
/// @param pendingBytes how many bytes, including their overhead, may wait for one peer before it is
///     closed as a slow reader; an unauthenticated peer is closed sooner
/// @param trusted whether only our own programs connect here. Their unauthenticated bytes have a
///     small budget of their own, and they need not wait until there is room for more devices
/// @param handlers makes the handler of a new connection, on its loop
public record Listener(
    String name,
    InetSocketAddress address,
    @Nullable TlsIdentity tls,
    boolean webSocket,
    int pendingBytes,
    boolean trusted,
    Function<Connection, ConnectionHandler> handlers) {}
