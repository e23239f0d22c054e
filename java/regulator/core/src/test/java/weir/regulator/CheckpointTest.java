package weir.regulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import weir.regulator.limit.Kind;

/** Checkpoints in a time that the test makes. */
class CheckpointTest {
    private static final long MS = 1_000_000;

    private final TestTime time = new TestTime();
    private final SplittableRandom random = new SplittableRandom(11);

    @AfterEach
    void leave() {
        Work.CURRENT.remove();
    }

    private Regulator regulator(String... pairs) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            values.put(pairs[at], pairs[at + 1]);
        }
        return new Regulator(Settings.of(values), time);
    }

    private static double metric(Regulator regulator, String name) {
        return regulator.metrics().stream().filter(of -> of.toString().equals(name)).findFirst().orElseThrow().value();
    }

    /** So many stretches of this length, one tick each; gives for how long it stood still. */
    private long work(Checkpoint checkpoint, int stretches, long stretchNs) {
        long before = time.now();
        long ran = 0;
        for (int stretch = 0; stretch < stretches; stretch++) {
            // Stretches of the same length are neither slow nor quick: let them vary.
            long took = stretchNs + random.nextLong(stretchNs / 10);
            time.pass(took);
            ran += took;
            checkpoint.tick(1);
        }
        return time.now() - before - ran;
    }

    @Test
    void slowProgressPausesWithinSevenStretches() {
        Regulator regulator = regulator();
        Checkpoint checkpoint = regulator.checkpoint("report");
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            long calm = work(checkpoint, 501, 3 * MS);
            assertTrue(calm <= 4 * MS, calm / MS + " ms");
            long paused = 0;
            int slow = 0;
            while (paused == 0) {
                paused = work(checkpoint, 1, 6 * MS);
                slow++;
            }
            assertTrue(slow <= 7, slow + " stretches");
            assertTrue(paused >= 2 * MS, paused / MS + " ms");
        }
    }

    @Test
    void offNothingIsDone() {
        Regulator regulator = regulator("on", "false");
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 500, 3 * MS);
        assertEquals(0, work(checkpoint, 500, 30 * MS));
        assertEquals(0, metric(regulator, "weir.regulator.checkpoint.stretches{checkpoint=report}"));
    }

    @Test
    void theClockIsReadSeldomWhereTicksAreQuick() {
        Regulator regulator = regulator();
        Checkpoint checkpoint = regulator.checkpoint("report");
        for (int tick = 0; tick < 1_000_000; tick++) {
            time.pass(1000);
            checkpoint.tick(1);
        }
        // A second of ticks of 1 µs: stretches of a bit more than 2 ms.
        double stretches = metric(regulator, "weir.regulator.checkpoint.stretches{checkpoint=report}");
        assertTrue(stretches > 450 && stretches <= 500, stretches + " stretches");
    }

    @Test
    void promisesOfOthersMakeWorkPauseUntilTheyAreGone() throws InterruptedException {
        Regulator regulator =
                regulator("class.light.urls", "/light", "class.heavy.urls", "/heavy", "promise.light", "p99 <= 10 ms");
        Checkpoint checkpoint = regulator.checkpoint("report");
        Entry heavy = regulator.enter("/heavy");
        try (Work.Bound bound = heavy.work().bind()) {
            assertEquals(0, work(checkpoint, 100, MS), "nobody was promised anything that came");
            long paused = 0;
            for (int request = 0; request < 100; request++) {
                Entry light = regulator.enter("/light");
                time.pass(20 * MS);
                light.finish(Kind.COMPLETED);
                paused += work(checkpoint, 1, MS);
            }
            assertTrue(paused > 100 * MS, paused / MS + " ms");
            assertEquals(0, metric(regulator, "weir.regulator.promise.kept{class=light}"));
            time.pass(2000 * MS);
            work(checkpoint, 1, MS);
            assertEquals(0, work(checkpoint, 100, MS), "light requests are gone");
        }
    }

    @Test
    void lightWorkNeverPauses() throws InterruptedException {
        Regulator regulator = regulator("class.light.urls", "/light", "promise.light", "p99 <= 1 ms");
        Checkpoint checkpoint = regulator.checkpoint("report");
        for (int request = 0; request < 100; request++) {
            Entry light = regulator.enter("/light");
            try (Work.Bound bound = light.work().bind()) {
                assertEquals(0, work(checkpoint, 10, 5 * MS));
            }
            light.finish(Kind.COMPLETED);
        }
    }

    @Test
    void pausesEndWithTheDeadline() {
        Regulator regulator = regulator("pause.min", "400 ms");
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        try (Work.Bound bound = regulator.begin(Duration.ofSeconds(2)).bind()) {
            long paused = work(checkpoint, 100, 9 * MS);
            assertTrue(paused > 0 && paused < 1900 * MS, paused / MS + " ms");
            assertEquals(0, work(checkpoint, 100, 20 * MS), "the deadline is over");
            assertTrue(metric(regulator, "weir.regulator.checkpoint.urgent{checkpoint=report}") > 0);
        }
    }

    @Test
    void nobodyPausesWithALock() {
        Regulator regulator = regulator();
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        ReentrantLock lock = new ReentrantLock();
        Checkpoint guarded = checkpoint.guarded(lock);
        lock.lock();
        assertEquals(0, work(guarded, 100, 9 * MS));
        lock.unlock();
        assertTrue(work(guarded, 100, 9 * MS) > 0);
        Object monitor = new Object();
        synchronized (monitor) {
            assertEquals(0, work(checkpoint.guarded(monitor), 100, 9 * MS));
        }
    }

    @Test
    void aMonitorOfWhichNobodyToldIsFound() {
        Regulator regulator = regulator();
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        synchronized (this) {
            assertEquals(0, work(checkpoint, 100, 9 * MS));
        }
        assertTrue(metric(regulator, "weir.regulator.checkpoint.locked{checkpoint=report}") > 0);
    }

    @Test
    void workGoesOnOnAnotherThread() throws InterruptedException {
        Regulator regulator = regulator();
        Work[] seen = new Work[1];
        Work work = regulator.begin(Duration.ofSeconds(1));
        Thread thread;
        try (Work.Bound bound = work.bind()) {
            thread = new Thread(Work.wrap(() -> seen[0] = Work.CURRENT.get()));
        }
        thread.start();
        thread.join();
        assertEquals(work, seen[0]);
        assertEquals(null, Work.CURRENT.get());
    }
}
