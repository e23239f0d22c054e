package weir.regulator;

import java.util.List;

/** Settings that make no sense: all that is wrong with them. */
public final class SettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    SettingsException(List<String> problems) {
        super(String.join("\n", problems));
    }
}
