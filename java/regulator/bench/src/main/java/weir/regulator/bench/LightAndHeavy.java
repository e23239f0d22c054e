package weir.regulator.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import weir.regulator.Checkpoint;
import weir.regulator.Entry;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.Work;
import weir.regulator.limit.Kind;

/**
 * Light requests at a constant rate beside heavy work in one virtual machine, without a server: light alone, then both with the
 * regulator off and on, with a promise of twice the p99 alone. Response times count from the intended start.
 * Arguments: heavy threads (20), light requests per second (300), seconds of each part (15).
 */
public final class LightAndHeavy {
    private static final int WALKS_OF_LIGHT = 3;
    private static final long WARM_UP_NS = 5_000_000_000L;

    /** One for each thread: to make one takes longer than to walk it. */
    private static final ThreadLocal<Walks> WALKS = ThreadLocal.withInitial(Walks::new);

    private final int heavies;
    private final double perS;
    private final long partNs;

    private LightAndHeavy(int heavies, double perS, long partNs) {
        this.heavies = heavies;
        this.perS = perS;
        this.partNs = partNs;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int heavies = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20;
        double perS = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 300;
        long seconds = arguments.length > 2 ? Long.parseLong(arguments[2]) : 15;
        LightAndHeavy bench = new LightAndHeavy(heavies, perS, TimeUnit.SECONDS.toNanos(seconds));
        bench.part("light alone (warm-up)", 0, "false", "1s");
        double aloneMs = bench.part("light alone", 0, "false", "1s");
        bench.part("regulator off", heavies, "false", "1s");
        bench.part("regulator on", heavies, "true", 2 * aloneMs + "ms");
    }

    /** Plays one part and prints it; gives the light requests' p99 in milliseconds. */
    private double part(String name, int heavyThreads, String on, String promise) throws InterruptedException {
        Regulator regulator = new Regulator(
                Settings.of(Map.of(
                        "on", on, "class.light.urls", "/light", "class.heavy.urls", "/heavy",
                        "promise.light", "p99 <= " + promise)),
                Time.ofMachine());
        long began = System.nanoTime();
        long counts = began + WARM_UP_NS;
        long end = counts + partNs;
        AtomicLong walks = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int thread = 0; thread < heavyThreads; thread++) {
            threads.add(new Thread(() -> heavy(regulator, counts, end, walks)));
        }
        threads.forEach(Thread::start);
        ConcurrentLinkedQueue<Long> responsesNs = new ConcurrentLinkedQueue<>();
        ExecutorService pool = Executors.newFixedThreadPool(32);
        long gapNs = (long) (1e9 / perS);
        for (long due = began; due < end; due += gapNs) {
            while (System.nanoTime() < due) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
            long intended = due;
            pool.execute(() -> light(regulator, intended, counts, responsesNs));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        for (Thread thread : threads) {
            thread.join();
        }
        long[] sorted = responsesNs.stream().mapToLong(Long::longValue).sorted().toArray();
        double p99Ms = sorted[(int) (sorted.length * 0.99)] / 1e6;
        System.out.printf(
                "%-22s light p50 %.2f ms, p99 %.2f ms (promise %s); heavy %.0f walks/s; share %s%n",
                name, sorted[sorted.length / 2] / 1e6, p99Ms, promise, walks.get() * 1e9 / partNs,
                Arrays.toString(regulator.metrics().stream()
                        .filter(of -> of.name().contains("pace") || of.name().contains("promise"))
                        .mapToDouble(of -> of.value()).toArray()));
        return p99Ms;
    }

    private static void light(Regulator regulator, long intended, long counts, ConcurrentLinkedQueue<Long> responsesNs) {
        Walks work = WALKS.get();
        enter(regulator, "/light", () -> {
            for (int walk = 0; walk < WALKS_OF_LIGHT; walk++) {
                work.walk();
            }
        });
        if (intended >= counts && work.sink() != 0) {
            responsesNs.add(System.nanoTime() - intended);
        }
    }

    private static void heavy(Regulator regulator, long counts, long end, AtomicLong walks) {
        Checkpoint checkpoint = regulator.checkpoint("walk");
        Walks work = new Walks();
        while (System.nanoTime() < end) {
            enter(regulator, "/heavy", () -> {
                for (int walk = 0; walk < 100 && System.nanoTime() < end; walk++) {
                    work.walk();
                    checkpoint.tick(1);
                    if (System.nanoTime() >= counts) {
                        walks.incrementAndGet();
                    }
                }
            });
        }
        if (work.sink() == 0) {
            System.out.println("nothing was done");
        }
    }

    private static void enter(Regulator regulator, String path, Runnable task) {
        try {
            Entry entry = regulator.enter(path);
            try (Work.Bound bound = entry.work().bind()) {
                task.run();
            }
            entry.finish(Kind.COMPLETED);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
