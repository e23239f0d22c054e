package weir.stress;

import java.util.List;

/** A parameter that is one of a few words; the first is the default. */
record ChoiceParameter(String name, List<String> words) {
    /** {@code text} if it is one of the words. */
    String parse(String text) throws BadParameter {
        if (words.contains(text)) {
            return text;
        }
        throw new BadParameter("parameter " + name + ": " + Parameters.quoted(text) + " is not accepted; give one of: "
                + String.join(", ", words));
    }
}
