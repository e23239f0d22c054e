package weir.stress;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The parameters of one request, from the query and from a form in the body.
 *
 * <p>A name that the endpoint does not know is refused: a misspelt parameter that silently falls back to its default changes
 * what a load test measures, and nobody notices.
 */
final class Parameters {
    private final Map<String, String[]> given;

    Parameters(Map<String, String[]> given) {
        this.given = given;
    }

    /** Checks that every name is one of {@code accepted} and that none comes twice. */
    void expectOnly(String... accepted) throws BadParameter {
        List<String> names = Arrays.asList(accepted);
        for (Map.Entry<String, String[]> parameter : given.entrySet()) {
            if (!names.contains(parameter.getKey())) {
                throw new BadParameter("parameter " + parameter.getKey() + " is not known here; accepted: " + String.join(", ", names));
            }
            if (parameter.getValue().length != 1) {
                throw new BadParameter("parameter " + parameter.getKey() + " is given more than once");
            }
        }
    }

    /** The value of {@code number}, or its default. */
    long number(NumberParameter number) throws BadParameter {
        String[] values = given.get(number.name());
        return values == null ? number.fallback() : number.parse(values[0]);
    }

    /** The chosen word. */
    String choice(ChoiceParameter choice) throws BadParameter {
        String[] values = given.get(choice.name());
        return values == null ? choice.words().get(0) : choice.parse(values[0]);
    }

    /** A text in quotes, on one line whatever is in it. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.codePoints().forEach(c -> {
            switch (c) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                default -> {
                    if (Character.isISOControl(c)) {
                        quoted.append(String.format("\\u{%x}", c));
                    } else {
                        quoted.appendCodePoint(c);
                    }
                }
            }
        });
        return quoted.append('"').toString();
    }
}
