package io.pushplanet.gateway.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/// How many messages of one queue the broker may have handed out without an answer. It counts messages, of which one carries a
/// single push and another thousands of recipients: so the window follows what the handler has room for.
///
/// - It doubles while three quarters of it are in hand, the handler has room for more recipients, twice as many messages of the
///   size of those in hand would be no more than [#MOST_BYTES], and none was given back since the last look.
/// - It is as small as at the beginning again once there are more bytes than that in hand, or the handler has twice as many
///   recipients as it has room for: others may follow that are as large. What the broker has sent of them until it knows may be
///   hundreds of MB: past [#LAST_BYTES] nobody takes it ([#take]). That is for emergencies, because RabbitMQ puts what it is given
///   back behind everything else in the queue, and an old message waits until a new one is done
///   (https://www.rabbitmq.com/docs/quorum-queues#repeated-requeues).
/// - It halves when less than a quarter of it has been in hand for [#CALM] looks: what comes next may be large.
///
/// Thread-safe.
final class PrefetchWindow {
  /// 4,096 pushes with the 4 KB that vendors take at most. As many messages as at the beginning come on top.
  static final long MOST_BYTES = 16L * 1_024 * 1_024;

  /// Room for what comes before a window that grew with small messages is small again.
  static final long LAST_BYTES = 2 * MOST_BYTES;

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

  /// What the messages in hand weigh.
  synchronized long bytes() {
    return bytes;
  }

  /// The broker hands out anew, before anybody knows how much.
  synchronized void startOver() {
    size = subscription.prefetch();
    calm = 0;
    full = false;
  }

  /// @param bounded whether a message that is too much stays out; then there may be few of them from the next look on
  /// @return whether it is in hand now
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

  /// What one could not be handled for may be so for the next.
  synchronized void gaveBack() {
    gaveBack = true;
  }

  /// To be called several times a second.
  ///
  /// @param resting whether no message is begun: what the handler has room for says nothing
  /// @return how large it is from now on
  synchronized int look(boolean resting) {
    int room = subscription.room().getAsInt();
    boolean inNeed = messages >= size - size / 4;
    calm = messages < size / 4 ? calm + 1 : 0;
    if (full || bytes > MOST_BYTES || room <= -subscription.mostPrefetch()) {
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
    return 2L * size * bytes <= MOST_BYTES * messages;
  }
}
