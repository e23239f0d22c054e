// A JVM whose requests run on virtual threads: some wait for a monitor, some for a lock, some sleep, some read.
//
// Prints "ready" and its process id once all of them wait, and ends when its standard input does.

import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

public class Virtual {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Semaphore NONE = new Semaphore(0);

    interface Work {
        void run() throws Exception;
    }

    /** Its name stands in the stacks of those who serve a request. */
    static final class Servlet {
        void service(Work work) {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void inMonitor() {
        synchronized (MONITOR) {
            MONITOR.hashCode();
        }
    }

    static void read(int port) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", port); InputStream in = socket.getInputStream()) {
            in.read();
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        try (ServerSocket silent = new ServerSocket(0)) {
            int port = silent.getLocalPort();
            LOCK.lock();
            synchronized (MONITOR) {
                start(threads, 3, () -> inMonitor());
                start(threads, 2, () -> LOCK.lock());
                start(threads, 4, () -> Thread.sleep(3_600_000));
                start(threads, 5, () -> read(port));
                start(threads, 1, () -> NONE.acquire());
                // One that serves no request.
                threads.add(Thread.ofVirtual().start(NONE::acquireUninterruptibly));
                while (!threads.stream().allMatch(Virtual::waits)) {
                    Thread.sleep(10);
                }
                System.out.println("ready " + ProcessHandle.current().pid());
                while (System.in.read() >= 0) {
                }
            }
        }
        System.exit(0);
    }

    static void start(List<Thread> threads, int count, Work work) {
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofVirtual().start(() -> new Servlet().service(work)));
        }
    }

    static boolean waits(Thread thread) {
        return switch (thread.getState()) {
            case BLOCKED, WAITING, TIMED_WAITING -> true;
            default -> false;
        };
    }
}
