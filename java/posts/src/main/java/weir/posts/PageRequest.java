package weir.posts;

import java.util.List;
import java.util.Map;

/**
 * Which posts to read.
 *
 * @param number the first page is 1
 */
record PageRequest(long board, long size, long number) {
    private static final List<String> ACCEPTED = List.of("size", "page");

    /** What is wrong with a request, in words for the one who sent it. */
    static final class BadRequest extends RuntimeException {
        BadRequest(String message) {
            super(message);
        }
    }

    /** Reads the board from the path and the rest from the query. */
    static PageRequest of(String board, Map<String, List<String>> query) {
        query.forEach((name, values) -> {
            // A misspelt name that falls back to its default changes what is measured, and nobody notices.
            if (!ACCEPTED.contains(name)) {
                throw new BadRequest("parameter " + name + " is not known here; accepted: " + String.join(", ", ACCEPTED));
            }
            if (values.size() != 1) {
                throw new BadRequest("parameter " + name + " is given more than once");
            }
        });
        return new PageRequest(
                number("board", board, 1, 10, "number of the board"),
                number("size", first(query, "size", "10"), 1, 1_000, "posts"),
                number("page", first(query, "page", "1"), 1, 1_000_000, "number of the page"));
    }

    /** Rows before the page. */
    long offset() {
        return size * (number - 1);
    }

    private static String first(Map<String, List<String>> query, String name, String fallback) {
        List<String> values = query.get(name);
        return values == null ? fallback : values.get(0);
    }

    private static long number(String name, String text, long low, long high, String unit) {
        if (text.matches("[0-9]{1,18}")) {
            long value = Long.parseLong(text);
            if (value >= low && value <= high) {
                return value;
            }
        }
        throw new BadRequest("parameter " + name + ": \"" + text + "\" is not accepted; give a whole number from " + low + " to "
                + high + " (" + unit + ")");
    }
}
