package weir.regulator;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Virtual threads, where the virtual machine has them: Java 21 and later, while this is compiled for 11. */
final class VirtualThreads {
    private static final MethodHandle IS_VIRTUAL = find(false, "isVirtual", MethodType.methodType(boolean.class));
    private static final MethodHandle START =
            find(true, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));

    private VirtualThreads() {}

    private static MethodHandle find(boolean isStatic, String name, MethodType type) {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        try {
            return isStatic ? lookup.findStatic(Thread.class, name, type) : lookup.findVirtual(Thread.class, name, type);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    /** Whether the calling thread is one. */
    static boolean isCurrent() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs a task on a new one. */
    static void start(Runnable task) {
        try {
            Thread started = (Thread) START.invokeExact(task);
            assert started != null;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
