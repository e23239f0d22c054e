package weir.regulator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import weir.regulator.limit.ClassRules;
import weir.regulator.limit.Concurrency;
import weir.regulator.limit.Fixed;
import weir.regulator.limit.Rate;
import weir.regulator.limit.Rules;
import weir.regulator.pause.PauseRules;

/**
 * What a regulator is to hold, as names and values; {@code docs/reference/regulator.md} lists them.
 *
 * <p>Immutable. {@link #with} gives a changed copy.
 */
public final class Settings {
    /** System properties that begin so are settings. */
    public static final String PREFIX = "weir.regulator.";
    /** The class of requests that no pattern matches. */
    public static final String OTHER = "other";
    /** Off: nothing is held, and nothing costs anything. */
    public static final Settings OFF = of(Map.of("on", "false"));

    private final Map<String, String> values;
    private final boolean on;
    private final PromiseBy promiseBy;
    private final PauseRules pauses;
    private final List<ClassSettings> classes;
    private final Rules rules;
    private final UrlPatterns patterns;

    private Settings(Map<String, String> values) {
        SettingsReader reader = new SettingsReader(values);
        this.values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        this.on = reader.take("on", Quantity::yes, true);
        this.promiseBy = reader.take("promise-by", PromiseBy::parse, PromiseBy.PAUSES);
        PauseRules usual = PauseRules.DEFAULT;
        long stretchMin = reader.take("pause.stretch-min", Quantity::nanos, usual.stretchMinNs);
        long pauseMin = reader.take("pause.min", Quantity::nanos, usual.pauseMinNs);
        long pauseMax = reader.take("pause.max", Quantity::nanos, Math.max(usual.pauseMaxNs, pauseMin));
        double alpha = reader.take("pause.alpha", Quantity::share, usual.alpha);
        double beta = reader.take("pause.beta", Quantity::share, usual.beta);
        reader.run(pauseMin > 0 ? "pause.max" : "pause.min", () -> checkPauses(pauseMin, pauseMax));
        boolean isPossible = pauseMin > 0 && pauseMin <= pauseMax;
        this.pauses = isPossible ? new PauseRules(stretchMin, pauseMin, pauseMax, alpha, beta) : usual;
        this.classes = classes(reader);
        for (ClassSettings of : classes) {
            reader.run("promise." + of.name, () -> checkPromise(of.promise));
        }
        Rate rate = reader.take("rate", text -> Rate.perSecond(Quantity.number(text)), null);
        Concurrency concurrency = reader.take("concurrency", ConcurrencyText::parse, null);
        long maxWait = reader.take("max-wait", Quantity::nanos, Rules.MAX_WAIT_DEFAULT_NS);
        int maxQueue = reader.take("max-queue", Quantity::count, Rules.MAX_QUEUE_DEFAULT);
        this.patterns = new UrlPatterns(classes.size() - 1);
        Map<String, String> owners = new HashMap<>();
        for (int index = 0; index < classes.size(); index++) {
            int of = index;
            String name = classes.get(index).name;
            for (String pattern : classes.get(index).urls) {
                reader.run("class." + name + ".urls", () -> {
                    patterns.add(pattern, of);
                    checkOwner(pattern, name, owners.putIfAbsent(pattern, name));
                });
            }
        }
        reader.finish();
        List<ClassRules> held = new ArrayList<>();
        for (ClassSettings of : classes) {
            // Where all is off, those that wait are not to be sent away because the wait for all is shorter than theirs.
            held.add(on ? rulesOf(of) : new ClassRules(of.name, null, null, null, of.maxWaitNs, of.maxQueue));
        }
        this.rules = new Rules(on ? rate : null, on ? concurrency : null, maxWait, maxQueue, held);
    }

    /**
     * Settings of names and values.
     *
     * @throws SettingsException that says everything that is wrong with them
     */
    public static Settings of(Map<String, String> values) {
        return new Settings(values);
    }

    /**
     * Settings of a filter's parameters and of those properties that begin with {@link #PREFIX}, which go before them.
     *
     * @throws SettingsException that says everything that is wrong with them, and names what properties say as it was typed
     */
    public static Settings of(Map<String, String> parameters, Properties properties) {
        Map<String, String> ofProperties = values(properties);
        Map<String, String> all = new LinkedHashMap<>(parameters);
        all.putAll(ofProperties);
        try {
            return of(all);
        } catch (SettingsException e) {
            throw e.withPrefix(PREFIX, ofProperties.keySet());
        }
    }

    /**
     * Settings of those properties that begin with {@link #PREFIX}; null if there are none.
     *
     * @throws SettingsException that says everything that is wrong with them
     */
    public static Settings ofProperties(Properties properties) {
        return values(properties).isEmpty() ? null : of(Map.of(), properties);
    }

    private static Map<String, String> values(Properties properties) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                values.put(name.substring(PREFIX.length()), properties.getProperty(name));
            }
        }
        return values;
    }

    /** The same but for one value; null takes the name out. */
    public Settings with(String name, String value) {
        Map<String, String> changed = new LinkedHashMap<>(values);
        if (value == null) {
            changed.remove(name);
        } else {
            changed.put(name, value);
        }
        return of(changed);
    }

    /** All that was said, by name. */
    public Map<String, String> values() {
        return values;
    }

    /** Whether anything is held at all. */
    public boolean isOn() {
        return on;
    }

    PromiseBy promiseBy() {
        return promiseBy;
    }

    PauseRules pauses() {
        return pauses;
    }

    /** In the order of the rules; the last is {@link #OTHER}. */
    List<ClassSettings> classes() {
        return classes;
    }

    /** What admission holds: nothing where all is off. */
    Rules rules() {
        return rules;
    }

    /** The index of the class of a path within the application, without its query. */
    public int classOf(String path) {
        return patterns.classOf(path);
    }

    private static List<ClassSettings> classes(SettingsReader reader) {
        List<ClassSettings> classes = new ArrayList<>();
        for (String name : reader.classNames()) {
            if (!name.equals(OTHER)) {
                classes.add(new ClassSettings(name, reader));
            }
        }
        // Last, wherever it was named: what no pattern matches goes there.
        classes.add(new ClassSettings(OTHER, reader));
        return Collections.unmodifiableList(classes);
    }

    private static void checkPauses(long minNs, long maxNs) {
        if (minNs <= 0) {
            throw new IllegalArgumentException("the shortest pause has to be above 0");
        }
        if (minNs > maxNs) {
            throw new IllegalArgumentException(
                    "the longest pause, " + Quantity.ofNanos(maxNs) + ", is shorter than pause.min, " + Quantity.ofNanos(minNs));
        }
    }

    private static void checkOwner(String pattern, String name, String owner) {
        if (owner != null && !owner.equals(name)) {
            throw new IllegalArgumentException(
                    "'" + pattern + "' is a pattern of the class '" + owner + "', too; a request is of one class");
        }
    }

    /** Admission lets fewer in until answers are in time: it knows nothing of a throughput. */
    private void checkPromise(PromiseText promise) {
        if (promise != null && promise.response == null && !promiseBy.isByPauses()) {
            throw new IllegalArgumentException(
                    "it is pauses that keep a promise of throughput; write promise-by = pauses or both, or promise a response time");
        }
    }

    /**
     * What admission holds of a class. Where it is pauses that keep promises, a class without a cap of its own has none, rather
     * than what a promise leaves over: its work is let in, and stands back at its checkpoints.
     */
    private ClassRules rulesOf(ClassSettings of) {
        Concurrency concurrency = of.concurrency;
        if (concurrency == null && !promiseBy.isByAdmission()) {
            concurrency = Fixed.UNLIMITED;
        }
        boolean isPromised = of.promise != null;
        int priority = of.priority == null ? ClassRules.usualPriority(isPromised) : of.priority;
        return new ClassRules(
                of.name,
                of.rate,
                concurrency,
                isPromised ? of.promise.response : null,
                of.maxWaitNs,
                of.maxQueue,
                priority);
    }
}
