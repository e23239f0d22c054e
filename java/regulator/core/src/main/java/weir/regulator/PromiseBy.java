package weir.regulator;

import java.util.Locale;

/** What makes room for those who were promised something. */
enum PromiseBy {
    /** The work of others stands back at its checkpoints. */
    PAUSES,
    /** Fewer requests of others are let in: those that have no cap of their own get what is left over. */
    ADMISSION,
    /** Both. */
    BOTH;

    boolean isByPauses() {
        return this != ADMISSION;
    }

    boolean isByAdmission() {
        return this != PAUSES;
    }

    static PromiseBy parse(String text) {
        for (PromiseBy by : values()) {
            if (by.name().toLowerCase(Locale.ROOT).equals(text.trim())) {
                return by;
            }
        }
        throw new IllegalArgumentException("'" + text + "' is none of pauses, admission, both");
    }
}
