package weir.regulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.TabularData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import weir.regulator.limit.Kind;
import weir.regulator.limit.Why;

/** Requests of real threads at a regulator. */
@Timeout(60)
class RegulatorTest {
    private static Regulator regulator(Map<String, String> values) {
        return new Regulator(Settings.of(values), Time.ofMachine());
    }

    @Test
    void noMoreThanMayAreInFlightAndAllAreServedInTheEnd() throws InterruptedException {
        Regulator regulator = regulator(
                Map.of("class.heavy.urls", "/heavy", "class.heavy.concurrency", "3", "class.heavy.max-wait", "1 min"));
        AtomicInteger inFlight = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int index = 0; index < 20; index++) {
            threads.add(new Thread(() -> {
                for (int request = 0; request < 50; request++) {
                    enterOnce(regulator, inFlight, most);
                    served.incrementAndGet();
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1000, served.get());
        assertTrue(most.get() <= 3, most + " at a time");
        assertEquals(0, regulator.inFlight());
        assertEquals(1000, regulator.seen("heavy").finished);
    }

    @Test
    void aListenerThatFailsCostsNoPlace() throws InterruptedException {
        Regulator regulator = regulator(Map.of("class.heavy.urls", "/heavy", "class.heavy.concurrency", "1"));
        List<Long> waits = new ArrayList<>();
        regulator.listen((serviceClass, nanos) -> {
            throw new IllegalStateException("of " + serviceClass);
        });
        regulator.listen((serviceClass, nanos) -> waits.add(nanos));
        Logger logger = Logger.getLogger("weir.regulator");
        logger.setLevel(java.util.logging.Level.OFF);
        try {
            for (int request = 0; request < 3; request++) {
                Entry entry = regulator.enter("/heavy");
                assertTrue(entry.isAdmitted());
                assertTrue(entry.finish(Kind.COMPLETED));
            }
        } finally {
            logger.setLevel(null);
        }
        assertEquals(List.of(0L, 0L, 0L), waits);
        assertEquals(0, regulator.inFlight());
    }

    private static void enterOnce(Regulator regulator, AtomicInteger inFlight, AtomicInteger most) {
        try {
            Entry entry = regulator.enter("/heavy");
            assertTrue(entry.isAdmitted());
            most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
            Thread.onSpinWait();
            inFlight.decrementAndGet();
            assertTrue(entry.finish(Kind.COMPLETED));
            assertFalse(entry.finish(Kind.FAILED), "a permit is given back once");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Nobody ends: who keeps the time has to send the others away, also when he is one of them. */
    @Test
    void whoeverWaitsTooLongIsSentAway() throws InterruptedException {
        Regulator regulator = regulator(
                Map.of("class.heavy.urls", "/heavy", "class.heavy.concurrency", "1", "class.heavy.max-wait", "50 ms"));
        Entry runs = regulator.enter("/heavy");
        List<Why> whys = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int index = 0; index < 5; index++) {
            threads.add(new Thread(() -> whys.add(why(regulator))));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(5, whys.stream().filter(why -> why == Why.WAIT_TOO_LONG || why == Why.EXPIRED).count(), whys.toString());
        runs.finish(Kind.COMPLETED);
        assertEquals(0, regulator.inFlight());
    }

    private static Why why(Regulator regulator) {
        try {
            return regulator.enter("/heavy").why();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anInterruptedThreadLeaves() throws InterruptedException {
        Regulator regulator = regulator(
                Map.of("class.heavy.urls", "/heavy", "class.heavy.concurrency", "1", "class.heavy.max-wait", "1 min"));
        Entry runs = regulator.enter("/heavy");
        AtomicInteger interrupted = new AtomicInteger();
        Thread thread = new Thread(() -> {
            try {
                regulator.enter("/heavy");
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            }
        });
        thread.start();
        while (regulator.seen("heavy").queued == 0) {
            Thread.onSpinWait();
        }
        thread.interrupt();
        thread.join();
        assertEquals(1, interrupted.get());
        assertEquals(1, regulator.seen("heavy").abandoned);
        runs.finish(Kind.COMPLETED);
        assertEquals(0, regulator.inFlight());
    }

    @Test
    void aClassThatIsAddedGetsNoRequestsOfOthers() throws InterruptedException {
        Regulator regulator = regulator(Map.of("class.other.rate", "1000"));
        regulator.apply(regulator.settings().with("class.light.urls", "/light"));
        regulator.enter("/else").finish(Kind.COMPLETED);
        assertEquals(1, regulator.seen("other").finished);
        assertEquals(0, regulator.seen("light").arrived);
    }

    @Test
    void noneOfTheChangesMadeAtOneTimeIsLost() throws InterruptedException {
        Regulator regulator = regulator(Map.of());
        AtomicInteger lost = new AtomicInteger();
        try (RegulatorBean bean = RegulatorBean.register(regulator, "changed")) {
            List<Thread> threads = new ArrayList<>();
            for (int index = 0; index < 4; index++) {
                String setting = "class.of" + index + ".rate";
                threads.add(new Thread(() -> {
                    for (int rate = 1; rate <= 300; rate++) {
                        bean.set(setting, Integer.toString(rate));
                        boolean isThere = Integer.toString(rate).equals(bean.getSettings().get(setting));
                        lost.addAndGet(isThere ? 0 : 1);
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertEquals(0, lost.get());
        assertEquals(5, regulator.settings().classes().size());
    }

    /** As Prometheus wants it. */
    @Test
    void eachMetricHasTheSameTagsWhereverItOccurs() throws InterruptedException {
        Regulator regulator = regulator(Map.of("class.light.urls", "/light", "promise.light", "p99 <= 50 ms", "concurrency", "7"));
        regulator.checkpoint("report");
        regulator.enter("/light");
        Map<String, Set<String>> tags = new HashMap<>();
        Map<String, Double> values = new HashMap<>();
        for (Metric metric : regulator.metrics()) {
            Set<String> before = tags.putIfAbsent(metric.name(), metric.tags().keySet());
            assertTrue(before == null || before.equals(metric.tags().keySet()), metric + " beside one with the tags " + before);
            assertNull(values.put(metric.toString(), metric.value()), metric + " occurs twice");
        }
        assertEquals(1, values.get("weir.regulator.total.active"));
        assertEquals(7, values.get("weir.regulator.total.limit"));
        assertEquals(1, values.get("weir.regulator.requests.active{class=light}"));
    }

    /** One that is off holds nobody, and whoever waits when it is switched off goes on. */
    @Test
    void whoWaitsGoesOnWhenItIsSwitchedOff() throws InterruptedException {
        Regulator regulator = regulator(
                Map.of("class.heavy.urls", "/heavy", "class.heavy.concurrency", "1", "class.heavy.max-wait", "1 min"));
        Entry first = regulator.enter("/heavy");
        List<Entry> second = Collections.synchronizedList(new ArrayList<>());
        Thread waits = new Thread(() -> {
            try {
                second.add(regulator.enter("/heavy"));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        waits.start();
        for (long end = System.nanoTime() + 30_000_000_000L; System.nanoTime() < end && regulator.seen("heavy").queued == 0; ) {
            Thread.onSpinWait();
        }
        assertEquals(1, regulator.seen("heavy").queued);
        // Longer than those may wait of whom nothing is said.
        Thread.sleep(300);
        regulator.apply(regulator.settings().with("on", "false"));
        waits.join(30_000);
        assertEquals(1, second.size(), "it waits although nothing is held");
        Entry third = regulator.enter("/heavy");
        assertTrue(second.get(0).isAdmitted() && third.isAdmitted());
        assertEquals(2, regulator.inFlight(), "whoever comes while it is off is counted nowhere");
        assertTrue(third.finish(Kind.COMPLETED));
        assertFalse(third.finish(Kind.COMPLETED), "it is over once");
        regulator.apply(regulator.settings().with("on", "true"));
        assertTrue(first.finish(Kind.COMPLETED) && second.get(0).finish(Kind.COMPLETED));
        assertEquals(0, regulator.inFlight());
    }

    /** What is in front of a name that was typed is said, too. */
    @Test
    void systemPropertiesThatAreWrongAreNamedAsTheyWereTyped() {
        Properties properties = new Properties();
        properties.setProperty("weir.regulator.rate", "fast");
        SettingsException error = assertThrows(
                SettingsException.class, () -> Settings.of(Map.of("max-wait", "soon"), properties));
        List<String> lines = error.getMessage().lines().toList();
        assertEquals("weir.regulator.rate: 'fast' is not a number", lines.get(0));
        assertTrue(lines.get(1).startsWith("max-wait: 'soon'"), lines.get(1));
    }

    /** A promise among the system properties to a class that the parameters of a filter describe. */
    @Test
    void systemPropertiesThatAFilterCompletesAreNoMistake() {
        Properties properties = new Properties();
        properties.setProperty("weir.regulator.promise.light", "p99 <= 20 ms");
        Regulator regulator = Regulator.of(properties);
        assertFalse(regulator.isOn());
        regulator.apply(Settings.of(Map.of("class.light.urls", "/light", "promise.light", "p99 <= 20 ms")));
        assertTrue(regulator.isOn());
    }

    /** Light requests that take twice as long as was promised, whoever runs beside. */
    @Test
    void aPromiseThatCannotBeKeptIsSaid() throws InterruptedException {
        TestTime time = new TestTime();
        Regulator regulator = new Regulator(
                Settings.of(Map.of("class.light.urls", "/light", "class.heavy.urls", "/heavy", "promise.light", "p99 <= 10 ms")), time);
        List<String> said = Collections.synchronizedList(new ArrayList<>());
        Logger log = Logger.getLogger("weir.regulator");
        Handler listens = listener(said);
        log.addHandler(listens);
        log.setUseParentHandlers(false);
        try (Work.Bound heavy = regulator.begin(Duration.ofHours(1)).bind()) {
            answerLight(regulator, time, 20, 30);
            assertEquals(1, impossible(regulator));
            assertEquals(1, said.size(), said.toString());
            assertEquals(
                    "WARNING the promise to light cannot be kept: its answers are late though all other work is held to the least share",
                    said.get(0));
            answerLight(regulator, time, 1, 60);
            assertEquals(0, impossible(regulator));
            assertEquals("INFO the promise to light can be kept again", said.get(said.size() - 1));
        } finally {
            log.setUseParentHandlers(true);
            log.removeHandler(listens);
        }
    }

    /** Where fewer others are let in, and nobody pauses, it stands and is told as well. */
    @Test
    void aPromiseThatAdmissionKeepsIsSaid() throws InterruptedException {
        TestTime time = new TestTime();
        Regulator regulator = new Regulator(
                Settings.of(Map.of(
                        "class.light.urls", "/light", "promise.light", "p99 <= 10 ms", "promise-by", "admission")),
                time);
        assertEquals(1, promise(regulator, "kept"), "nothing was late yet");
        List<String> said = Collections.synchronizedList(new ArrayList<>());
        Logger log = Logger.getLogger("weir.regulator");
        Handler listens = listener(said);
        log.addHandler(listens);
        log.setUseParentHandlers(false);
        try {
            answerLight(regulator, time, 20, 5);
            assertEquals(0, promise(regulator, "kept"));
            assertEquals(1, impossible(regulator));
            assertEquals(0, promise(regulator, "measured"));
            String why = "of all others without a cap of their own as few are let in as can be";
            assertEquals(
                    List.of("WARNING the promise to light cannot be kept: its answers are late though " + why), said);
            answerLight(regulator, time, 1, 30);
            assertEquals(1, promise(regulator, "kept"));
            assertEquals("INFO the promise to light can be kept again", said.get(said.size() - 1));
            assertEquals(2, said.size(), said.toString());
            answerLight(regulator, time, 20, 30);
            assertEquals(3, said.size(), said.toString());
            regulator.apply(regulator.settings().with("promise.light", "p99 <= 15 ms"));
            answerLight(regulator, time, 20, 30);
            assertEquals(4, said.size(), "another promise cannot be kept either: " + said);
        } finally {
            log.setUseParentHandlers(true);
            log.removeHandler(listens);
        }
    }

    /** Light requests one after the other, while this thread works, too. */
    private static void answerLight(Regulator regulator, TestTime time, long eachMs, int seconds) throws InterruptedException {
        Checkpoint work = regulator.checkpoint("work");
        long end = time.now() + seconds * 1_000_000_000L;
        while (time.now() < end) {
            Entry light = regulator.enter("/light");
            time.pass(eachMs * 1_000_000);
            light.finish(Kind.COMPLETED);
            time.pass(1_000_000);
            work.tick(1);
        }
    }

    private static double impossible(Regulator regulator) {
        return promise(regulator, "impossible");
    }

    private static double promise(Regulator regulator, String what) {
        return regulator.metrics().stream()
                .filter(metric -> metric.name().equals("weir.regulator.promise." + what))
                .mapToDouble(Metric::value)
                .sum();
    }

    private static Handler listener(List<String> said) {
        return new Handler() {
            @Override
            public void publish(LogRecord told) {
                said.add(told.getLevel() + " " + new SimpleFormatter().formatMessage(told));
            }

            @Override
            public void flush() {
                // Nothing is kept back.
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
    }

    @Test
    void jmxShowsAndChangesIt() throws Exception {
        Regulator regulator = regulator(Map.of("class.light.urls", "/light", "promise.light", "p99 <= 50 ms"));
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("weir.regulator:type=Regulator,name=\"test\"");
        try (RegulatorBean bean = RegulatorBean.register(regulator, "test")) {
            regulator.enter("/light").finish(Kind.COMPLETED);
            TabularData metrics = (TabularData) server.getAttribute(name, "Metrics");
            Object[] key = {"weir.regulator.requests.admitted{class=light}"};
            assertEquals(1.0, metrics.get(key).get("value"));
            assertEquals(Map.of("light", "KEPT"), bean.getPromises());
            Object[] change = {"class.light.rate", "50"};
            server.invoke(name, "set", change, new String[] {"java.lang.String", "java.lang.String"});
            assertEquals("50", regulator.settings().values().get("class.light.rate"));
            server.setAttribute(name, new Attribute("On", false));
            assertFalse(regulator.isOn());
            Object[] mistake = {"class.light.rate", "fast"};
            RuntimeMBeanException refused = assertThrows(
                    RuntimeMBeanException.class,
                    () -> server.invoke(name, "set", mistake, new String[] {"java.lang.String", "java.lang.String"}));
            assertEquals(IllegalArgumentException.class, refused.getCause().getClass(), "every client knows this class");
            assertTrue(refused.getCause().getMessage().contains("class.light.rate"), refused.getCause().getMessage());
        }
        assertFalse(server.isRegistered(name));
    }
}
