package weir.regulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * URL patterns of the servlet specification (12.2): {@code /exact}, {@code /prefix/*}, {@code *.extension}, {@code /} for what
 * nothing else matches. An exact pattern goes before prefixes, a longer prefix before a shorter one, prefixes before extensions.
 */
final class UrlPatterns {
    private final Map<String, Integer> exact = new HashMap<>();
    private final Map<String, Integer> extensions = new HashMap<>();
    private final List<String> prefixes = new ArrayList<>();
    private final List<Integer> prefixClasses = new ArrayList<>();
    private int otherwise;

    /** What no pattern matches is of the class {@code otherwise}. */
    UrlPatterns(int otherwise) {
        this.otherwise = otherwise;
    }

    void add(String pattern, int of) {
        if (pattern.equals("/")) {
            otherwise = of;
        } else if (pattern.startsWith("*.")) {
            extensions.putIfAbsent(pattern.substring(2), of);
        } else if (pattern.startsWith("/") && pattern.endsWith("/*")) {
            addPrefix(pattern.substring(0, pattern.length() - 2), of);
        } else if (pattern.startsWith("/") && pattern.indexOf('*') < 0) {
            exact.putIfAbsent(pattern, of);
        } else {
            throw new IllegalArgumentException(
                    "'" + pattern + "' is no URL pattern; write /exact, /prefix/*, *.extension or /");
        }
    }

    /** The longest first. */
    private void addPrefix(String prefix, int of) {
        int at = 0;
        while (at < prefixes.size() && prefixes.get(at).length() >= prefix.length()) {
            at++;
        }
        prefixes.add(at, prefix);
        prefixClasses.add(at, of);
    }

    /** The class of a path within the application, without its query. */
    int classOf(String path) {
        Integer of = exact.get(path);
        if (of != null) {
            return of;
        }
        for (int at = 0; at < prefixes.size(); at++) {
            String prefix = prefixes.get(at);
            boolean ends = path.length() == prefix.length() || (path.length() > prefix.length() && path.charAt(prefix.length()) == '/');
            if (ends && path.startsWith(prefix)) {
                return prefixClasses.get(at);
            }
        }
        int dot = path.lastIndexOf('.');
        of = dot > path.lastIndexOf('/') ? extensions.get(path.substring(dot + 1)) : null;
        return of == null ? otherwise : of;
    }
}
