package weir.regulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import weir.regulator.limit.Adaptive;
import weir.regulator.limit.Aimd;
import weir.regulator.limit.Fixed;
import weir.regulator.limit.Gradient2;
import weir.regulator.limit.Promise;
import weir.regulator.limit.Vegas;

class SettingsTest {
    @Test
    void promisesAreReadAsTheyAreWritten() {
        assertEquals(new Promise(0.99, 50_000_000), PromiseText.parse("p99 <= 50 ms").response);
        assertEquals(new Promise(0.999, 2_000_000_000), PromiseText.parse("p99.9<=2s").response);
        assertEquals(0.95, PromiseText.parse("throughput >= 95 % of alone").throughput, 1e-12);
        assertNull(PromiseText.parse("throughput >= 95 % of alone").response);
    }

    @Test
    void capsAreReadAsTheyAreWritten() {
        assertEquals(new Fixed(20), ConcurrencyText.parse("20"));
        assertEquals(new Adaptive(0.8, null, null, 50.0, null), ConcurrencyText.parse("adaptive cpu=80 % max=50"));
        assertEquals(new Adaptive(null, 60_000_000L, null, null, null), ConcurrencyText.parse("adaptive p99=60 ms"));
        assertEquals(new Aimd(10, 2, 200, 0.9, 500_000_000), ConcurrencyText.parse("aimd start=10 min=2 timeout=500ms"));
        assertEquals(Vegas.DEFAULT, ConcurrencyText.parse("vegas"));
        assertEquals(Gradient2.DEFAULT, ConcurrencyText.parse("gradient2"));
    }

    @Test
    void everythingThatIsWrongIsSaidAtOnce() {
        SettingsException error = assertThrows(SettingsException.class, () -> Settings.of(Map.of(
                "class.heavy.urls", "reports",
                "class.heavy.concurrency", "many",
                "class.heavy.max-wait", "200",
                "promise.light", "p99 <= 50 ms",
                "promise.heavy", "fast",
                "promise-by", "magic",
                "colour", "blue")));
        List<String> lines = error.getMessage().lines().sorted().toList();
        assertEquals(7, lines.size(), error.getMessage());
        assertTrue(lines.get(0).startsWith("class.heavy.concurrency: 'many' is no cap; write"), lines.get(0));
        assertTrue(lines.get(1).contains("write it as 200 ms"), lines.get(1));
        assertTrue(lines.get(2).contains("'reports' is no URL pattern; write"), lines.get(2));
        assertEquals("colour: there is no such setting", lines.get(3));
        assertTrue(lines.get(6).contains("class.light.urls"), lines.get(6));
    }

    @Test
    void whatCanNeverBeHeldIsSaid() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("class.light.urls", "/light, /both, /light");
        values.put("class.light.concurrency", "aimd min=50 max=10");
        values.put("promise.light", "p99 <= 0 ms");
        values.put("class.heavy.urls", "/heavy/*, /both");
        values.put("class.heavy.concurrency", "gradient2 min=30 max=20");
        values.put("class.other.urls", "/heavy/*");
        values.put("class.other.concurrency", "adaptive p99=0ms");
        SettingsException error = assertThrows(SettingsException.class, () -> Settings.of(values));
        List<String> lines = error.getMessage().lines().sorted().toList();
        assertEquals(6, lines.size(), error.getMessage());
        assertEquals("class.heavy.concurrency: the least limit, 30.0, is above the largest, 20.0", lines.get(0));
        assertTrue(lines.get(1).startsWith("class.heavy.urls: '/both' is a pattern of the class 'light', too"), lines.get(1));
        assertEquals("class.light.concurrency: the least limit, 50.0, is above the largest, 10.0", lines.get(2));
        assertTrue(lines.get(3).startsWith("class.other.concurrency: a p99 of 0 ns"), lines.get(3));
        assertTrue(lines.get(4).startsWith("class.other.urls: '/heavy/*' is a pattern of the class 'heavy', too"), lines.get(4));
        assertTrue(lines.get(5).startsWith("promise.light: nobody answers within 0 ns"), lines.get(5));
        assertEquals(new Aimd(10, 10, 10, 0.9, 5_000_000_000L), ConcurrencyText.parse("aimd max=10"));
    }

    @Test
    void limitsThatContradictEachOtherAreRefusedAndWhatIsNotSaidFits() {
        assertEquals(new Aimd(10, 10, 200, 0.9, 500_000_000L), ConcurrencyText.parse("aimd start=10 timeout=500ms"));
        assertEquals(new Aimd(30, 30, 200, 0.9, 5_000_000_000L), ConcurrencyText.parse("aimd min=30"));
        assertEquals(new Gradient2(5, 5, 200), ConcurrencyText.parse("gradient2 start=5"));
        for (String wrong : List.of(
                "aimd start=500", "aimd start=5 min=10", "aimd back-off=0.01", "vegas start=20 max=10", "adaptive cpu=80% cpu=70%")) {
            assertThrows(IllegalArgumentException.class, () -> ConcurrencyText.parse(wrong), wrong);
        }
        SettingsException pauses = assertThrows(SettingsException.class, () -> Settings.of(Map.of("pause.max", "1 ms")));
        assertEquals("pause.max: the longest pause, 1.00 ms, is shorter than pause.min, 2.00 ms", pauses.getMessage());
    }

    @Test
    void admissionAloneKeepsNoPromiseOfThroughput() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("class.light.urls", "/light");
        values.put("promise.light", "throughput >= 95 % of alone");
        Settings settings = Settings.of(values);
        SettingsException error = assertThrows(SettingsException.class, () -> settings.with("promise-by", "admission"));
        assertTrue(error.getMessage().startsWith("promise.light: it is pauses that keep"), error.getMessage());
        assertEquals(PromiseBy.BOTH, settings.with("promise-by", "both").promiseBy());
        Settings inTime = settings.with("promise.light", "p99 <= 50 ms");
        assertEquals(PromiseBy.ADMISSION, inTime.with("promise-by", "admission").promiseBy());
    }

    @Test
    void oneValueIsChangedAndTakenOut() {
        Settings settings = Settings.of(Map.of("class.heavy.urls", "/heavy"));
        assertEquals("5", settings.with("class.heavy.concurrency", "5").values().get("class.heavy.concurrency"));
        assertEquals(Map.of(), settings.with("class.heavy.urls", null).values());
        assertThrows(SettingsException.class, () -> settings.with("rate", "0"));
    }

    /** System properties and the parameters of a filter come in any order. */
    @ParameterizedTest
    @ValueSource(strings = {"class.other.rate", "promise.other", "class.other.urls"})
    void whatNoPatternMatchesIsOfTheClassOtherWhereverThatIsNamed(String first) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put(first, "");
        values.put("class.other.rate", "5");
        values.put("class.other.urls", "/else");
        values.put("promise.other", "p99 <= 1 s");
        values.put("class.light.urls", "/light");
        values.put("promise.light", "p99 <= 50 ms");
        Settings settings = Settings.of(values);
        assertEquals("light", settings.classes().get(settings.classOf("/light")).name);
        for (String path : List.of("/", "/else", "/else/more")) {
            assertEquals(Settings.OTHER, settings.classes().get(settings.classOf(path)).name, path);
        }
    }

    @Test
    void systemPropertiesAreSettings() {
        Properties properties = new Properties();
        properties.setProperty("user.home", "/");
        assertNull(Settings.ofProperties(properties));
        properties.setProperty("weir.regulator.on", "false");
        assertEquals(Map.of("on", "false"), Settings.ofProperties(properties).values());
    }

    @ParameterizedTest
    @CsvSource({
        "/light, exact", "/light/more, other", "/reports, prefix", "/reports/2024/may, longer", "/reports/2025, prefix",
        "/reportsish, other", "/a/b.pdf, extension", "/a.pdf/b, other", "/reports/x.pdf, prefix"
    })
    void urlPatternsMatchAsInTheServletSpecification(String path, String expected) {
        List<String> names = List.of("exact", "prefix", "longer", "extension", "other");
        UrlPatterns patterns = new UrlPatterns(4);
        patterns.add("/light", 0);
        patterns.add("/reports/*", 1);
        patterns.add("/reports/2024/*", 2);
        patterns.add("*.pdf", 3);
        assertEquals(expected, names.get(patterns.classOf(path)));
    }
}
