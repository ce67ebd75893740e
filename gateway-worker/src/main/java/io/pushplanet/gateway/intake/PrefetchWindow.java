package io.pushplanet.gateway.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/// How many messages of one queue the broker may have handed out without an answer. One message
/// carries a single push, another one thousands of recipients, so the window follows the room that
/// the handler has.
///
/// - It doubles while three quarters of it are in hand, the handler has room for more recipients,
///   twice as many messages of the present size would be at most [#MAX_BYTES], and no message was
///   given back since the last look.
/// - It returns to its smallest size when more bytes than that are in hand, or when the handler has
///   twice as many recipients as it has room for: the next messages may be as large. The broker may
///   have sent hundreds of MB before it learns of the change, so messages beyond [#LAST_BYTES] are
///   not taken ([#take]). That is for emergencies: RabbitMQ puts a message that is given back
///   behind all others in the queue, where an old one waits until new ones are done
///   (https://www.rabbitmq.com/docs/quorum-queues#repeated-requeues).
/// - It halves when less than a quarter of it has been in hand for [#CALM] looks: the next messages
///   may be large.
///
/// Thread-safe.
final class PrefetchWindow {
  /// 4,096 pushes of 4 KB, the most that vendors take. The messages of the smallest window may come
  /// on top.
  static final long MAX_BYTES = 16L * 1_024 * 1_024;

  /// Leaves room for the messages that arrive before a window that grew with small messages has
  /// shrunk.
  static final long LAST_BYTES = 2 * MAX_BYTES;

  static final int CALM = 10;

  private final Subscription subscription;

  @GuardedBy("this")
  private int size;

  @GuardedBy("this")
  private int messages;

  @GuardedBy("this")
  private long bytes;

  @GuardedBy("this")
  private int calm;

  @GuardedBy("this")
  private boolean gaveBack;

  @GuardedBy("this")
  private boolean full;

  PrefetchWindow(Subscription subscription) {
    this.subscription = subscription;
    this.size = subscription.prefetch();
  }

  synchronized int size() {
    return size;
  }

  /// The size of the messages in hand.
  synchronized long bytes() {
    return bytes;
  }

  /// Begins with the smallest size again: the broker hands all messages out anew, and their size is
  /// not known yet.
  synchronized void startOver() {
    size = subscription.prefetch();
    calm = 0;
    full = false;
  }

  /// @param bounded whether a message beyond [#LAST_BYTES] is refused; the window then shrinks at
  ///     the next look
  /// @return whether the message is in hand now
  synchronized boolean take(int length, boolean bounded) {
    if (bounded && bytes + length > LAST_BYTES) {
      full = true;
      return false;
    }
    messages++;
    bytes += length;
    return true;
  }

  synchronized void answered(int length) {
    messages--;
    bytes -= length;
  }

  /// The window does not grow right after a failure.
  synchronized void gaveBack() {
    gaveBack = true;
  }

  /// Adjusts the window; called several times a second.
  ///
  /// @param resting while true no message is begun, so that the handler's room says nothing
  /// @return the new size
  synchronized int look(boolean resting) {
    int room = subscription.room().getAsInt();
    boolean inNeed = messages >= size - size / 4;
    calm = messages < size / 4 ? calm + 1 : 0;
    if (full || bytes > MAX_BYTES || room <= -subscription.mostPrefetch()) {
      size = subscription.prefetch();
    } else if (calm >= CALM) {
      size = Math.max(subscription.prefetch(), size / 2);
      calm = 0;
    } else if (inNeed && room > 0 && twiceAsManyFit() && !gaveBack && !resting) {
      size = Math.max(size, Math.min(subscription.mostPrefetch(), 2 * size));
    }
    gaveBack = false;
    full = false;
    return size;
  }

  @GuardedBy("this")
  private boolean twiceAsManyFit() {
    return 2L * size * bytes <= MAX_BYTES * messages;
  }
}
