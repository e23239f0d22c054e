package weir.regulator.bench;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import weir.regulator.Checkpoint;
import weir.regulator.Metric;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.Work;

/**
 * How soon work on one CPU gives way to a thread that begins to spin on it, judged by progress alone: stretches from then to the first
 * pause, and the part of the time that it pauses beside the neighbour and without it. To be run on one CPU ({@code taskset -c 1}). Argument:
 * rounds (40), each of them three seconds without the neighbour and one with it.
 */
public final class Neighbour {
    private static final long CALM_NS = 3_000_000_000L;
    private static final long BESIDE_NS = 1_000_000_000L;
    /** Until the neighbour has noticed that it is to stop, and the pauses begin with the shortest one again. */
    private static final long AFTER_NS = 100_000_000L;

    private final Regulator regulator = new Regulator(Settings.of(Map.of("on", "true")), Time.ofMachine());
    private final Checkpoint checkpoint = regulator.checkpoint("walk");
    private final Metric stretches = metric("checkpoint.stretches");
    private final Metric pauses = metric("checkpoint.pauses");
    private final Metric paused = metric("checkpoint.paused");
    private final Walks work = new Walks();
    private volatile boolean spins;

    private Metric metric(String name) {
        return regulator.metrics().stream()
                .filter(of -> of.name().endsWith(name))
                .findFirst()
                .orElseThrow();
    }

    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 40;
        new Neighbour().measure(rounds);
    }

    private void measure(int rounds) {
        Thread neighbour = new Thread(this::spin, "neighbour");
        neighbour.setDaemon(true);
        neighbour.start();
        double[] until = new double[rounds];
        Share calm = new Share();
        Share beside = new Share();
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            workFor(2 * CALM_NS);
            for (int round = 0; round < rounds; round++) {
                long began = System.nanoTime();
                double pausedBefore = paused.value();
                workFor(CALM_NS);
                calm.add(paused.value() - pausedBefore, System.nanoTime() - began);
                began = System.nanoTime();
                pausedBefore = paused.value();
                spins = true;
                LockSupport.unpark(neighbour);
                until[round] = workFor(BESIDE_NS);
                spins = false;
                beside.add(paused.value() - pausedBefore, System.nanoTime() - began);
                workFor(AFTER_NS);
            }
        }
        Arrays.sort(until);
        System.out.printf(
                "%d rounds: first pause after %.0f stretches in the median, %.0f at the 90th percentile, %.0f at most, within eight in %d; paused"
                        + " %.1f %% beside the neighbour, %.3f %% without it, sum %d%n",
                rounds,
                until[rounds / 2],
                until[rounds * 9 / 10],
                until[rounds - 1],
                Arrays.stream(until).filter(of -> of <= 8).count(),
                beside.percent(),
                calm.percent(),
                work.sink());
    }

    /** Part of the time that was paused. */
    private static final class Share {
        private double pausedS;
        private double allS;

        void add(double pausedS, long allNs) {
            this.pausedS += pausedS;
            this.allS += allNs / 1e9;
        }

        double percent() {
            return 100 * pausedS / allS;
        }
    }

    /** How many stretches there were until the first pause; all of them if there was none. */
    private double workFor(long nanos) {
        long until = System.nanoTime() + nanos;
        double stretchesBefore = stretches.value();
        double pausesBefore = pauses.value();
        double first = -1;
        while (System.nanoTime() < until) {
            work.walk();
            checkpoint.tick(1);
            if (first < 0 && pauses.value() > pausesBefore) {
                first = stretches.value() - stretchesBefore;
            }
        }
        return first < 0 ? stretches.value() - stretchesBefore : first;
    }

    private void spin() {
        while (true) {
            if (spins) {
                Thread.onSpinWait();
            } else {
                LockSupport.park(this);
            }
        }
    }
}
