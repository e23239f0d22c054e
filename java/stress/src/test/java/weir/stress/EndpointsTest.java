package weir.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EndpointsTest {
    /** A connection that can be given back and nothing else: /stress runs no statement. */
    private static final Connection HELD = (Connection) Proxy.newProxyInstance(
            EndpointsTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                assertEquals("close", method.getName());
                return null;
            });

    private static Parameters of(String... pairs) {
        Map<String, String[]> given = new LinkedHashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            given.put(pairs[at], new String[] {pairs[at + 1]});
        }
        return new Parameters(given);
    }

    @Test
    void lightKnowsItsNumbers() throws BadParameter {
        // OEIS A000045.
        assertEquals("fibonacci(20) = 6765\n", new Light().answer(of()).body());
        assertEquals("fibonacci(0) = 0\n", new Light().answer(of("n", "0")).body());
        assertEquals("fibonacci(25) = 75025\n", new Light().answer(of("n", "25")).body());
        assertThrows(BadParameter.class, () -> new Light().answer(of("n", "46")));
        assertThrows(BadParameter.class, () -> new Light().answer(of("N", "20")));
    }

    @Test
    void heavyCountsWhatTheSampleServerCounts(@TempDir Path directory) throws Exception {
        // What `weir sample-server` answers to the same request.
        assertEquals(
                "{\"walks\":2,\"elements\":3251,\"attributes\":1950,\"text_bytes\":32668}\n",
                new Heavy(Catalogue.write(directory)).answer(of("walks", "2")).body());
    }

    @Test
    void numericFindsPi() throws Exception {
        assertEquals("{\"rounds\":3,\"pi\":3.141593}\n", new Numeric().answer(of("rounds", "3")).body());
        assertThrows(BadParameter.class, () -> new Numeric().answer(of("walks", "3")));
    }

    @Test
    void diskWritesAndLeavesNothingBehind(@TempDir Path directory) throws Exception {
        String body = new Disk(directory).answer(of("writes", "3", "kib", "4")).body();
        assertEquals("{\"writes\":3,\"bytes\":4096}\n", body);
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void aDiskThatCannotBeWrittenToIsSaid(@TempDir Path directory) {
        Unavailable said =
                assertThrows(Unavailable.class, () -> new Disk(directory.resolve("none")).answer(of("writes", "1")));
        assertEquals(500, said.status());
        assertTrue(said.getMessage().startsWith("failed to write to the disk: "), said.getMessage());
    }

    @Test
    void stressHoldsTwiceAndSaysWhatItDid() throws Exception {
        Pool pool = new Pool(() -> HELD, System::nanoTime);
        String body = new Stress(pool)
                .answer(of("searchTime", "2", "bit", "64", "updateTime", "30", "duration", "0"))
                .body();
        assertTrue(body.startsWith("searchTime = 2 ms\ninterval = 1 ms\nduration = 0 times\nbit = 64\nupdateTime = 30 ms\n"
                + "form = as-intended\nsecond hold = 30 ms\nelapsed = "), body);
        assertEquals(2, pool.getAcquisitions());
        assertEquals(0, pool.getInUse());
        assertTrue(pool.getInUseSeconds() >= 0.032, () -> "held for " + pool.getInUseSeconds() + " s");
    }

    @Test
    void asPublishedTheSecondHoldIsOneMillisecond() throws Exception {
        Pool pool = new Pool(() -> HELD, System::nanoTime);
        String body = new Stress(pool)
                .answer(of("searchTime", "0", "bit", "64", "updateTime", "600000", "form", "as-published"))
                .body();
        assertTrue(body.contains("updateTime = 600000 ms\nform = as-published\nsecond hold = 1 ms\n"), body);
    }

    @Test
    void misspeltUpdateTimeIsRefused() {
        Pool pool = new Pool(() -> HELD, System::nanoTime);
        BadParameter wrong =
                assertThrows(BadParameter.class, () -> new Stress(pool).answer(of("updataTime", "10000")));
        assertEquals(
                "parameter updataTime is not known here; accepted: searchTime, interval, duration, bit, updateTime, form",
                wrong.getMessage());
        assertEquals(0, pool.getAcquisitions());
    }
}
