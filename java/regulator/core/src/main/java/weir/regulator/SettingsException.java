package weir.regulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Settings that make no sense: all that is wrong with them. */
public final class SettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final ArrayList<String> problems;

    SettingsException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = new ArrayList<>(problems);
    }

    /** The same with something before each of these settings where a problem begins with it. */
    SettingsException withPrefix(String prefix, Set<String> settings) {
        List<String> named = new ArrayList<>();
        for (String problem : problems) {
            boolean isOne = settings.contains(problem.substring(0, Math.max(0, problem.indexOf(": "))));
            named.add(isOne ? prefix + problem : problem);
        }
        return new SettingsException(named);
    }
}
