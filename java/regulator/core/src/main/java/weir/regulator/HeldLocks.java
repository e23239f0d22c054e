package weir.regulator;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Whether the calling thread holds one of some locks. */
final class HeldLocks {
    private HeldLocks() {}

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
        return Thread.holdsLock(lock);
    }
}
