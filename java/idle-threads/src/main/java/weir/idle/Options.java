package weir.idle;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Pairs of {@code --name number} on a command line; a name that is not known is refused. */
final class Options {
    private final Map<String, Long> given;

    private Options(Map<String, Long> given) {
        this.given = given;
    }

    static Options of(List<String> words, String... known) throws BadOption {
        Map<String, Long> given = new HashMap<>();
        for (int at = 0; at < words.size(); at += 2) {
            String name = words.get(at);
            if (!List.of(known).contains(name)) {
                throw new BadOption(name + " is not known; there are " + String.join(", ", known));
            }
            if (at + 1 == words.size()) {
                throw new BadOption(name + " needs a number behind it");
            }
            if (given.put(name, parse(name, words.get(at + 1))) != null) {
                throw new BadOption(name + " is given twice");
            }
        }
        return new Options(given);
    }

    private static long parse(String name, String word) throws BadOption {
        try {
            return Long.parseLong(word);
        } catch (NumberFormatException e) {
            throw new BadOption(name + " has to be a whole number, not " + word);
        }
    }

    /** A number that has to be given. */
    int number(String name, int least, int most) throws BadOption {
        if (!given.containsKey(name)) {
            throw new BadOption(name + " is missing");
        }
        return number(name, least, most, least);
    }

    /** A number, or what it is when it is not given. */
    int number(String name, int least, int most, int fallback) throws BadOption {
        long value = given.getOrDefault(name, (long) fallback);
        if (value < least || value > most) {
            throw new BadOption(name + " has to be between " + least + " and " + most + ", not " + value);
        }
        return (int) value;
    }

    /** A switch: 0 or 1. */
    boolean isOn(String name) throws BadOption {
        return number(name, 0, 1, 0) == 1;
    }
}
