package weir.regulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import weir.regulator.limit.Kind;

/** Checkpoints in a time that the test makes. */
class CheckpointTest {
    private static final long MS = 1_000_000;

    private final TestTime time = new TestTime();
    private final SplittableRandom random = new SplittableRandom(11);

    @AfterEach
    void leave() {
        Work.leave();
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

    /** Who loses the CPU in the regulator's own code has waited for it: that belongs to the next stretch. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void noTimeIsLostBetweenStretches(int checkpoints) {
        long eachLookNs = MS / 2;
        Time slow = new Time() {
            @Override
            public long now() {
                time.pass(eachLookNs);
                return time.now();
            }

            @Override
            public void park(long nanos) {
                time.park(nanos);
            }
        };
        Regulator regulator = new Regulator(Settings.of(Map.of("on", "true")), slow);
        Checkpoint[] all = new Checkpoint[checkpoints];
        Arrays.setAll(all, index -> regulator.checkpoint("report" + index));
        long began = time.now();
        int ticks = 0;
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            for (; ticks < 90; ticks++) {
                time.pass(3 * MS);
                for (Checkpoint checkpoint : all) {
                    checkpoint.tick(1);
                }
            }
        }
        double perSecond = ticks * 1e9 / (time.now() - began);
        for (int index = 0; index < checkpoints; index++) {
            String name = "weir.regulator.checkpoint.progress.usual{checkpoint=report" + index + "}";
            assertEquals(perSecond, metric(regulator, name), 0.03 * perSecond);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, -1e9})
    void progressThatIsNoNumberCountsAsNone(double progress) {
        Regulator regulator = regulator();
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        checkpoint.tick(progress);
        assertTrue(work(checkpoint, 100, 9 * MS) > 0, "it is blind");
        double usual = metric(regulator, "weir.regulator.checkpoint.progress.usual{checkpoint=report}");
        assertTrue(usual > 1000 / 9.9 && usual < 1000 / 3.0, usual + " per second");
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

    /** One waits for three seconds for its client; the others have no reason to stand still for that. */
    @Test
    void whoWaitsForSomethingElseThanACpuHasNotRun() throws InterruptedException {
        Regulator regulator = regulator("class.light.urls", "/light", "promise.light", "p99 <= 50 ms");
        Checkpoint checkpoint = regulator.checkpoint("report");
        Entry light = regulator.enter("/light");
        Work waits = regulator.begin(Duration.ofHours(1));
        Work works = regulator.begin(Duration.ofHours(1));
        try (Work.Bound bound = waits.bind()) {
            work(checkpoint, 2, 3 * MS);
        }
        try (Work.Bound bound = works.bind()) {
            work(checkpoint, 2, 3 * MS);
        }
        long paused = 0;
        try (Work.Bound bound = waits.bind()) {
            time.pass(3000 * MS);
            checkpoint.tick(1);
        }
        try (Work.Bound bound = works.bind()) {
            paused = work(checkpoint, 1, 3 * MS);
        }
        double share = metric(regulator, "weir.regulator.pace.share");
        assertTrue(share > 0 && share < Double.POSITIVE_INFINITY, share + " threads");
        assertTrue(paused < 200 * MS / share, paused / MS + " ms");
        light.finish(Kind.COMPLETED);
    }

    /** A thread of a pool, whose tasks are no work that begins and ends. */
    @Test
    void timeWithoutATaskIsNoStretch() {
        Regulator regulator = regulator();
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        String name = "weir.regulator.checkpoint.progress.usual{checkpoint=report}";
        double usual = metric(regulator, name);
        time.pass(3_600_000 * MS);
        checkpoint.tick(1);
        assertEquals(usual, metric(regulator, name), 0.01 * usual);
        work(checkpoint, 100, 3 * MS);
        assertEquals(usual, metric(regulator, name), 0.05 * usual);
    }

    /** Several threads at one piece of work, which is not meant: what they stood still together is more time than there was. */
    @Test
    void noWorkPausesForLongerThanUntilItsDeadline() {
        Regulator regulator = regulator();
        Work work = regulator.begin(Duration.ofSeconds(60));
        work.paused(40_000 * MS);
        assertEquals(54_000 * MS, work.mayPauseNs(time.now() + 6000 * MS));
        assertEquals(0, regulator.begin(Duration.ofSeconds(-20)).mayPauseNs(time.now()));
        assertEquals(Long.MAX_VALUE, regulator.begin(Duration.ofSeconds(Long.MAX_VALUE)).mayPauseNs(time.now()));
    }

    /** For how long work stands still that runs for 400 ms, with a checkpoint after every 2 ms: these in turn. */
    private long paused(String... checkpoints) throws InterruptedException {
        Regulator regulator = regulator("class.light.urls", "/light", "promise.light", "p99 <= 50 ms");
        regulator.enter("/light");
        long before = time.now();
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            for (int stretch = 0; stretch < 200; stretch++) {
                time.pass(2 * MS);
                regulator.checkpoint(checkpoints[stretch % checkpoints.length]).tick(1);
            }
        }
        return time.now() - before - 400 * MS;
    }

    @Test
    void pausesAtOneCheckpointAreNoRunningTimeAtAnother() throws InterruptedException {
        long one = paused("parse");
        assertEquals(one, paused("parse", "write"), 0.1 * one + MS);
        assertEquals(one, paused("parse", "parse", "walk", "write", "write"), 0.1 * one + MS);
    }

    @Test
    void pausesAtOneCheckpointAreNoSlowProgressAtAnother() {
        Regulator regulator = regulator();
        Checkpoint even = regulator.checkpoint("even");
        Checkpoint slow = regulator.checkpoint("slow");
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            for (int round = 0; round < 600; round++) {
                work(even, 1, 3 * MS);
                time.pass(3 * MS + random.nextLong(MS / 3));
                slow.tick(round < 500 ? 1 : 0.25);
            }
        }
        assertTrue(metric(regulator, "weir.regulator.checkpoint.paused{checkpoint=slow}") > 1, "it does not pause");
        double usual = metric(regulator, "weir.regulator.checkpoint.progress.usual{checkpoint=even}");
        assertEquals(1000 / 6.3, usual, 0.02 * usual);
    }

    /** At a rate of one a second the second request waits for that long, and nobody runs. */
    @Test
    void whatWorkWaitedForAdmissionIsNoRunningTime() throws InterruptedException {
        Regulator regulator = regulator(
                "class.light.urls", "/light", "promise.light", "p99 <= 50 ms",
                "class.heavy.urls", "/heavy", "class.heavy.rate", "1", "class.heavy.max-wait", "5 s");
        Checkpoint checkpoint = regulator.checkpoint("report");
        regulator.enter("/light");
        for (int request = 0; request < 3; request++) {
            Entry heavy = regulator.enter("/heavy");
            try (Work.Bound bound = heavy.work().bind()) {
                long before = time.now();
                checkpoint.tick(0);
                assertEquals(before, time.now(), "request " + request + ": nothing has run");
                assertTrue(heavy.work().mayPauseNs(before) > 58_000 * MS, "nothing is kept back for what has not run");
            }
            heavy.finish(Kind.COMPLETED);
        }
    }

    /** The test's time, in which something happens when somebody next stands still. */
    private final class Happening implements Time {
        private Runnable next = () -> {};

        @Override
        public long now() {
            return time.now();
        }

        @Override
        public void park(long nanos) {
            Runnable happens = next;
            next = () -> {};
            happens.run();
            time.park(nanos);
        }
    }

    private static final Map<String, String> PROMISED = Map.of("class.light.urls", "/light", "promise.light", "p99 <= 50 ms");

    /** Two pieces of work, of which the first is killed while it stands still, or not; gives for how long the second stands still. */
    private long pausedAfter(boolean isKilled) throws InterruptedException {
        Happening happening = new Happening();
        Regulator regulator = new Regulator(Settings.of(PROMISED), happening);
        Checkpoint checkpoint = regulator.checkpoint("report");
        regulator.enter("/light");
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            work(checkpoint, 10, 2 * MS);
            happening.next = () -> {
                if (isKilled) {
                    throw new IllegalStateException("killed");
                }
            };
            work(checkpoint, 1, 2 * MS);
        } catch (IllegalStateException e) {
            assertEquals("killed", e.getMessage());
        }
        time.pass(1000 * MS);
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            return work(checkpoint, 100, 2 * MS);
        }
    }

    @Test
    void nobodyStandsBehindWorkThatWasKilled() throws InterruptedException {
        long usual = pausedAfter(false);
        assertEquals(usual, pausedAfter(true), 0.1 * usual + MS);
    }

    /** For how long work stands still while this setting changes, after it has begun to. */
    private long pausedWhile(String name, String value) throws InterruptedException {
        Happening happening = new Happening();
        Regulator regulator = new Regulator(Settings.of(PROMISED), happening);
        Checkpoint checkpoint = regulator.checkpoint("report");
        regulator.enter("/light");
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            work(checkpoint, 10, 2 * MS);
            happening.next = () -> regulator.set(name, value);
            return work(checkpoint, 10, 20 * MS);
        }
    }

    @Test
    void whoeverStandsStillGoesOnWhenThereIsNothingMoreToStandStillForAndNotBefore() throws InterruptedException {
        long usual = pausedWhile("class.light.urls", "/light");
        assertEquals(usual, pausedWhile("class.light.max-queue", "10"), 0.1 * usual + MS);
        assertEquals(usual, pausedWhile("class.heavy.urls", "/heavy"), 0.1 * usual + MS);
        assertTrue(pausedWhile("promise.light", null) <= 60 * MS, "nothing is promised");
        assertTrue(pausedWhile("on", "false") <= 60 * MS, "it is off");
    }

    @Test
    void whatWasLearntStaysWhenOtherSettingsChange() throws InterruptedException {
        Regulator regulator = regulator("class.light.urls", "/light", "promise.light", "p99 <= 10 ms");
        Checkpoint checkpoint = regulator.checkpoint("report");
        double first = metric(regulator, "weir.regulator.pace.share");
        assertEquals(Double.POSITIVE_INFINITY, first, "nobody has come");
        try (Work.Bound bound = regulator.begin(Duration.ofHours(1)).bind()) {
            for (int request = 0; request < 100; request++) {
                Entry light = regulator.enter("/light");
                time.pass(20 * MS);
                light.finish(Kind.COMPLETED);
                work(checkpoint, 1, MS);
            }
        }
        double share = metric(regulator, "weir.regulator.pace.share");
        double measured = metric(regulator, "weir.regulator.promise.measured{class=light}");
        assertTrue(share < 1 && measured == 0, share + ", " + measured);
        Entry late = regulator.enter("/light");
        regulator.set("class.heavy.max-queue", "10");
        assertEquals(share, metric(regulator, "weir.regulator.pace.share"));
        assertEquals(measured, metric(regulator, "weir.regulator.promise.measured{class=light}"));
        regulator.set("on", "false");
        assertEquals(Double.POSITIVE_INFINITY, metric(regulator, "weir.regulator.pace.share"));
        late.finish(Kind.COMPLETED);
        assertEquals(measured, metric(regulator, "weir.regulator.promise.measured{class=light}"), "it was off");
        regulator.set("on", "true");
        assertEquals(share, metric(regulator, "weir.regulator.pace.share"));
        regulator.set("promise.light", "p99 <= 11 ms");
        assertEquals(1, metric(regulator, "weir.regulator.promise.measured{class=light}"), "another promise");
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

    /** Where admission keeps the promise, others pause by their progress. */
    @Test
    void lightWorkNeverPausesWhateverKeepsItsPromise() throws InterruptedException {
        Regulator regulator = regulator(
                "class.light.urls", "/light", "promise.light", "p99 <= 1 s", "promise-by", "admission");
        Checkpoint checkpoint = regulator.checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        Entry light = regulator.enter("/light");
        try (Work.Bound bound = light.work().bind()) {
            assertEquals(0, work(checkpoint, 100, 9 * MS));
        }
        light.finish(Kind.COMPLETED);
        assertTrue(work(checkpoint, 100, 9 * MS) > 0, "others do");
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
    void nobodyPausesWithALockOfReadersAndWriters() {
        Checkpoint checkpoint = regulator().checkpoint("report");
        work(checkpoint, 501, 3 * MS);
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        both.readLock().lock();
        assertEquals(0, work(checkpoint.guarded(both), 100, 9 * MS));
        both.readLock().unlock();
        both.writeLock().lock();
        assertEquals(0, work(checkpoint.guarded(both.writeLock()), 100, 9 * MS));
        both.writeLock().unlock();
        StampedLock stamped = new StampedLock();
        long read = stamped.readLock();
        assertEquals(0, work(checkpoint.guarded(stamped), 100, 9 * MS));
        stamped.unlock(read);
        long written = stamped.writeLock();
        assertEquals(0, work(checkpoint.guarded(stamped), 100, 9 * MS));
        stamped.unlock(written);
        Checkpoint free = checkpoint.guarded(both).guarded(both.writeLock()).guarded(stamped);
        assertTrue(work(free, 100, 30 * MS) > 0, "none is held");
    }

    @Test
    void aLockThatCannotSayWhetherItIsHeldIsRefused() {
        Checkpoint checkpoint = regulator().checkpoint("report");
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        StampedLock stamped = new StampedLock();
        for (Object lock : List.of(both.readLock(), stamped.asReadLock(), stamped.asWriteLock(), stamped.asReadWriteLock())) {
            IllegalArgumentException error =
                    assertThrows(IllegalArgumentException.class, () -> checkpoint.guarded(lock));
            assertTrue(error.getMessage().startsWith("a " + lock.getClass().getName() + " cannot say"), error.getMessage());
        }
        IllegalArgumentException error =
                assertThrows(IllegalArgumentException.class, () -> checkpoint.guarded(both.readLock()));
        assertTrue(error.getMessage().endsWith("name the ReentrantReadWriteLock that it is of"), error.getMessage());
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
            thread = new Thread(Work.wrap(() -> seen[0] = Work.current()));
        }
        thread.start();
        thread.join();
        assertEquals(work, seen[0]);
        assertEquals(null, Work.current());
    }
}
