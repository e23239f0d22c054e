package weir.regulator;

import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Whether the calling thread holds one of some locks. */
final class HeldLocks {
    private HeldLocks() {}

    /**
     * The lock, if it is one of those that can be asked.
     *
     * @throws IllegalArgumentException if it cannot say whether the calling thread holds it
     */
    static Object check(Object lock) {
        Objects.requireNonNull(lock, "lock");
        boolean isKnown = lock instanceof ReentrantLock
                || lock instanceof ReentrantReadWriteLock
                || lock instanceof ReentrantReadWriteLock.WriteLock;
        if (!isKnown && (lock instanceof Lock || lock instanceof ReadWriteLock)) {
            throw new IllegalArgumentException(
                    "a " + lock.getClass().getName() + " cannot say whether the calling thread holds it; " + wayOut(lock));
        }
        return lock;
    }

    private static String wayOut(Object lock) {
        return lock instanceof ReentrantReadWriteLock.ReadLock
                ? "name the ReentrantReadWriteLock that it is of"
                : "name the StampedLock or ReentrantReadWriteLock that it is of, or put the checkpoint where it is not held";
    }

    static boolean isHeld(Object[] locks) {
        for (Object lock : locks) {
            if (isHeld(lock)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isHeld(Object lock) {
        if (lock instanceof ReentrantLock && ((ReentrantLock) lock).isHeldByCurrentThread()) {
            return true;
        }
        if (lock instanceof ReentrantReadWriteLock) {
            ReentrantReadWriteLock both = (ReentrantReadWriteLock) lock;
            if (both.isWriteLockedByCurrentThread() || both.getReadHoldCount() > 0) {
                return true;
            }
        }
        if (lock instanceof ReentrantReadWriteLock.WriteLock
                && ((ReentrantReadWriteLock.WriteLock) lock).isHeldByCurrentThread()) {
            return true;
        }
        if (lock instanceof StampedLock) {
            // It knows that somebody holds it, and not who.
            StampedLock stamped = (StampedLock) lock;
            if (stamped.isWriteLocked() || stamped.isReadLocked()) {
                return true;
            }
        }
        return Thread.holdsLock(lock);
    }
}
