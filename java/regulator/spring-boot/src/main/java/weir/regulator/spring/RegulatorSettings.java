package weir.regulator.spring;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The regulator's settings as an application's properties have them, whatever file, variable or option they stand in. */
final class RegulatorSettings {
    static final String PREFIX = "weir.regulator";
    /** Properties that are the starter's own. */
    private static final Set<String> OWN = Set.of("enabled", "wrap-tasks");
    /** A URL pattern's place in a list of them. */
    private static final Pattern PLACE = Pattern.compile("(?<=\\.urls)(\\.\\d+|\\[\\d+])$");

    private RegulatorSettings() {}

    /** By the names of the regulator's reference page; values of a list, such as URL patterns, have commas between them. */
    static Map<String, String> of(Environment environment) {
        Map<String, String> properties = Binder.get(environment)
                .bind(PREFIX, Bindable.mapOf(String.class, String.class))
                .orElse(Map.of());
        Map<String, String> settings = new LinkedHashMap<>();
        // In the order of their places.
        new TreeMap<>(properties).forEach((name, value) -> {
            if (!OWN.contains(name)) {
                settings.merge(PLACE.matcher(name).replaceFirst(""), value, (before, more) -> before + "," + more);
            }
        });
        return settings;
    }
}
