package weir.regulator.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import weir.regulator.Checkpoint;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.Work;

/**
 * What heavy work alone loses to the regulator: walks per second with it on and off, in turns of a second, as the median of the
 * ratios of neighbours. Arguments: threads (1), pairs of turns (20), "promise" for a promise to a class that does not come.
 */
public final class HeavyAlone {
    private static final long TURN_NS = 1_000_000_000L;

    private HeavyAlone() {}

    public static void main(String[] arguments) throws InterruptedException {
        int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
        int pairs = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 20;
        boolean promise = arguments.length > 2 && arguments[2].equals("promise");
        Settings on = Settings.of(
                promise ? Map.of("class.light.urls", "/light", "promise.light", "p99 <= 50 ms") : Map.of("on", "true"));
        Regulator regulator = new Regulator(on, Time.ofMachine());
        Checkpoint checkpoint = regulator.checkpoint("walk");
        turn(regulator, checkpoint, threads);
        double[] ratios = new double[pairs];
        for (int pair = 0; pair < pairs; pair++) {
            // Each first in every other pair, so that what drifts drifts for both.
            boolean onFirst = pair % 2 == 0;
            regulator.apply(onFirst ? on : Settings.OFF);
            double first = turn(regulator, checkpoint, threads);
            regulator.apply(onFirst ? Settings.OFF : on);
            double second = turn(regulator, checkpoint, threads);
            ratios[pair] = onFirst ? first / second : second / first;
        }
        Arrays.sort(ratios);
        System.out.printf(
                "%d threads, %d pairs: on/off median %.4f, quartiles %.4f to %.4f%n",
                threads, pairs, ratios[pairs / 2], ratios[pairs / 4], ratios[pairs * 3 / 4]);
        regulator.metrics().stream()
                .filter(of -> of.name().contains("checkpoint.paus") || of.name().contains("stretches"))
                .forEach(of -> System.out.println(of + " " + of.value()));
    }

    /** Walks per second of all threads. */
    private static double turn(Regulator regulator, Checkpoint checkpoint, int threads) throws InterruptedException {
        long[] walks = new long[threads];
        List<Thread> running = new ArrayList<>();
        long began = System.nanoTime();
        for (int index = 0; index < threads; index++) {
            int of = index;
            Thread thread = new Thread(() -> {
                Walks work = new Walks();
                try (Work.Bound bound = regulator.begin(Duration.ofMinutes(1)).bind()) {
                    while (System.nanoTime() - began < TURN_NS) {
                        work.walk();
                        checkpoint.tick(1);
                        walks[of]++;
                    }
                }
                if (work.sink() == 0) {
                    System.out.println("nothing was done");
                }
            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        return Arrays.stream(walks).sum() * 1e9 / (System.nanoTime() - began);
    }
}
