package weir.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import weir.regulator.Entry;
import weir.regulator.Metric;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Work;
import weir.regulator.limit.Kind;

class HeavyServerTest {
    @Test
    void heavyRequestsAreThoseBelowHeavy() {
        assertTrue(HeavyServer.takes("/heavy"));
        assertTrue(HeavyServer.takes("/heavy/numeric"));
        assertFalse(HeavyServer.takes("/heavyweight"));
        assertFalse(HeavyServer.takes("/light"));
    }

    @Test
    void theOtherServersAnswerIsPassedOn() throws Exception {
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/heavy", exchange -> {
            byte[] body = exchange.getRequestURI().toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/x-asked");
            exchange.sendResponseHeaders(418, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        other.start();
        HeavyServer server = new HeavyServer("http://127.0.0.1:" + other.getAddress().getPort());
        try {
            assertEquals(new Answer(418, "text/x-asked", "/heavy?walks=2&pause-ms=1"), server.answer("/heavy", "walks=2&pause-ms=1"));
            assertEquals(new Answer(418, "text/x-asked", "/heavy/disk"), server.answer("/heavy/disk", null));
        } finally {
            other.stop(0);
        }
        assertEquals(502, assertThrows(Unavailable.class, () -> server.answer("/heavy", null)).status());
    }

    @Test
    void aRequestThatIsPassedOnStandsBackForAPromiseAndTakesItsTurnForTheOtherServersTime() throws Exception {
        Duration slow = Duration.ofMillis(40);
        AtomicInteger atOnce = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService threads = Executors.newCachedThreadPool();
        other.setExecutor(threads);
        other.createContext("/heavy", exchange -> {
            most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
            LockSupport.parkNanos(slow.toNanos());
            atOnce.decrementAndGet();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        other.start();
        HeavyServer server = new HeavyServer("http://127.0.0.1:" + other.getAddress().getPort());
        server.answer("/heavy", null);
        Regulator regulator = Regulator.shared();
        Settings before = regulator.settings();
        regulator.apply(Settings.of(Map.of(
                "class.light.urls", "/light", "class.heavy.urls", "/heavy/*", "promise.light", "p99 <= 50 ms")));
        try {
            Entry light = regulator.enter("/light");
            List<Future<?>> heavy = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                heavy.add(threads.submit(() -> {
                    try (Work.Bound bound = Work.begin(Duration.ofMinutes(1)).bind()) {
                        return server.answer("/heavy", null);
                    }
                }));
            }
            for (Future<?> one : heavy) {
                one.get(20, TimeUnit.SECONDS);
            }
            light.finish(Kind.COMPLETED);
            // One, and the next one where it took so long that it was taken to wait for something else.
            assertTrue(most.get() <= 3, most + " requests at once in the other server");
            assertEquals(8, turnsTaken(regulator), "turns taken for its time");
        } finally {
            regulator.apply(before);
            other.stop(0);
            threads.shutdownNow();
        }
    }

    private static double turnsTaken(Regulator regulator) {
        return regulator.metrics().stream()
                .filter(metric -> metric.name().equals("weir.regulator.checkpoint.stretches")
                        && metric.tags().containsValue("passed-on"))
                .mapToDouble(Metric::value)
                .sum();
    }
}
