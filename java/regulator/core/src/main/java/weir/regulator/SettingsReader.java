package weir.regulator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** Takes settings one by one out of names and values, and keeps all that is wrong until the end. */
final class SettingsReader {
    private final Map<String, String> left;
    private final Set<String> classNames = new LinkedHashSet<>();
    private final List<String> problems = new ArrayList<>();

    SettingsReader(Map<String, String> values) {
        this.left = new LinkedHashMap<>(values);
        for (String key : values.keySet()) {
            String[] parts = key.split("\\.");
            if (parts.length == 3 && parts[0].equals("class")) {
                classNames.add(parts[1]);
            }
        }
    }

    /** The classes that are named, in their order. */
    Set<String> classNames() {
        return classNames;
    }

    <T> T take(String key, Function<String, T> parse, T otherwise) {
        String text = left.remove(key);
        return text == null ? otherwise : make(key, () -> parse.apply(text), otherwise);
    }

    <T> T make(String key, Supplier<T> make, T otherwise) {
        try {
            return make.get();
        } catch (IllegalArgumentException e) {
            problems.add(key + ": " + e.getMessage());
            return otherwise;
        }
    }

    void run(String key, Runnable run) {
        make(key, () -> {
            run.run();
            return null;
        }, null);
    }

    /** Nothing more is taken: what is left has no meaning. */
    void finish() {
        for (String key : left.keySet()) {
            problems.add(key.startsWith("promise.") ? unknownClass(key) : key + ": there is no such setting");
        }
        if (!problems.isEmpty()) {
            throw new SettingsException(problems);
        }
    }

    private String unknownClass(String key) {
        String name = key.substring("promise.".length());
        return key + ": there is no class '" + name + "'; say which requests it has, class." + name + ".urls = /...";
    }
}
