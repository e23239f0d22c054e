package weir.regulator.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import weir.regulator.Checkpoint;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.Work;

/**
 * What heavy work alone loses to the regulator: walks per second with it on and off, in short turns, as the median of the ratios
 * of neighbours with its interval of 95 % (order statistics, by the binomial distribution's normal approximation). Arguments:
 * threads (1), pairs of turns (600), "promise" for a promise to a class that does not come.
 *
 * <p>One regulator is on all the time and another off, and turns are taken between them: what the first has learnt stays. Turns are
 * as short as they can be beside the scheduler's, because the machine's speed drifts from second to second.
 */
public final class HeavyAlone {
    /** For each thread that shares a CPU with others. */
    private static final long TURN_NS = 50_000_000L;
    /** Until the compilers are done. */
    private static final int WARM_UP_TURNS = 60;
    private static final double Z_95 = 1.96;

    private final Walks[] works;
    private final ExecutorService threads;
    private final long turnNs;

    private HeavyAlone(int threads) {
        int cpus = Runtime.getRuntime().availableProcessors();
        this.works = new Walks[threads];
        Arrays.setAll(works, index -> new Walks());
        this.threads = Executors.newFixedThreadPool(threads);
        this.turnNs = TURN_NS * Math.max(1, threads / cpus);
    }

    public static void main(String[] arguments) throws InterruptedException, ExecutionException {
        int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
        int pairs = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 600;
        boolean promise = arguments.length > 2 && arguments[2].equals("promise");
        Settings settings = Settings.of(
                promise ? Map.of("class.light.urls", "/light", "promise.light", "p99 <= 50 ms") : Map.of("on", "true"));
        Regulator on = new Regulator(settings, Time.ofMachine());
        new HeavyAlone(threads).compare(on, new Regulator(Settings.OFF, Time.ofMachine()), pairs);
        on.metrics().stream()
                .filter(of -> of.name().contains("checkpoint.paus") || of.name().contains("stretches"))
                .forEach(of -> System.out.println(of + " " + of.value()));
    }

    private void compare(Regulator on, Regulator off, int pairs) throws InterruptedException, ExecutionException {
        Checkpoint regulated = on.checkpoint("walk");
        Checkpoint free = off.checkpoint("walk");
        for (int warmUp = 0; warmUp < WARM_UP_TURNS; warmUp++) {
            turn(on, regulated);
            turn(off, free);
        }
        double[] ratios = new double[pairs];
        for (int pair = 0; pair < pairs; pair++) {
            // Each first in every other pair, so that what drifts drifts for both.
            boolean onFirst = pair % 2 == 0;
            double first = onFirst ? turn(on, regulated) : turn(off, free);
            double second = onFirst ? turn(off, free) : turn(on, regulated);
            ratios[pair] = onFirst ? first / second : second / first;
        }
        threads.shutdown();
        Arrays.sort(ratios);
        double beside = Z_95 * Math.sqrt(pairs) / 2;
        int low = (int) Math.max(0, Math.floor(pairs / 2.0 - beside));
        int high = (int) Math.min(pairs - 1.0, Math.ceil(pairs / 2.0 + beside));
        System.out.printf(
                "%d threads, %d pairs of %.0f ms: on/off median %.4f (%.4f to %.4f), quartiles %.4f to %.4f, sum %d%n",
                works.length,
                pairs,
                turnNs / 1e6,
                ratios[pairs / 2],
                ratios[low],
                ratios[high],
                ratios[pairs / 4],
                ratios[pairs * 3 / 4],
                Arrays.stream(works).mapToLong(Walks::sink).sum());
    }

    /** Walks per second of all threads. */
    private double turn(Regulator regulator, Checkpoint checkpoint) throws InterruptedException, ExecutionException {
        long began = System.nanoTime();
        List<Callable<Long>> tasks = new ArrayList<>();
        for (Walks work : works) {
            tasks.add(() -> walk(work, regulator, checkpoint, began + turnNs));
        }
        long walks = 0;
        for (Future<Long> each : threads.invokeAll(tasks)) {
            walks += each.get();
        }
        return walks * 1e9 / (System.nanoTime() - began);
    }

    private static long walk(Walks work, Regulator regulator, Checkpoint checkpoint, long until) {
        long walks = 0;
        try (Work.Bound bound = regulator.begin(Duration.ofMinutes(1)).bind()) {
            while (System.nanoTime() < until) {
                work.walk();
                checkpoint.tick(1);
                walks++;
            }
        }
        return walks;
    }
}
