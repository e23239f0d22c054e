package weir.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same cases, and the same messages, as those of the sample server's parameters. */
class ParametersTest {
    private static final NumberParameter BIT = new NumberParameter("bit", "bits", 16, 8192, 1024);
    private static final ChoiceParameter FORM = new ChoiceParameter("form", List.of("plain", "fancy"));

    private static Parameters of(String... pairs) {
        Map<String, String[]> given = new LinkedHashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            given.put(pairs[at], pairs[at + 1].split(",", -1));
        }
        return new Parameters(given);
    }

    private static String message(org.junit.jupiter.api.function.Executable wrong) {
        return assertThrows(BadParameter.class, wrong).getMessage();
    }

    @Test
    void valuesAndDefaults() throws BadParameter {
        assertEquals(512, of("a", "1", "bit", "512").number(BIT));
        assertEquals(1024, of("a", "1").number(BIT));
        assertEquals(16, of("bit", "0016").number(BIT));
        assertEquals(8192, of("bit", "8192").number(BIT));
        assertEquals("fancy", of("form", "fancy").choice(FORM));
        assertEquals("plain", of().choice(FORM));
    }

    @ParameterizedTest
    @ValueSource(strings = {"15", "8193", "-1", "1e3", "", " 512", "+512", "٥١٢", "99999999999999999999999"})
    void messagesNameParameterValueAndWhatIsAccepted(String value) {
        assertEquals(
                "parameter bit: \"" + value + "\" is not accepted; give a whole number from 16 to 8192 (bits)",
                message(() -> of("bit", value).number(BIT)));
    }

    @Test
    void aWordMustBeOneOfThem() {
        assertEquals(
                "parameter form: \"best\" is not accepted; give one of: plain, fancy",
                message(() -> of("form", "best").choice(FORM)));
    }

    @Test
    void misspeltAndRepeatedNamesAreRefused() throws BadParameter {
        assertEquals(
                "parameter bits is not known here; accepted: bit, form",
                message(() -> of("bits", "512").expectOnly("bit", "form")));
        assertEquals("parameter bit is given more than once", message(() -> of("bit", "1,1").expectOnly("bit", "form")));
        of("form", "1", "bit", "1").expectOnly("bit", "form");
    }

    @Test
    void aMessageStaysOnItsLine() {
        assertEquals("\"a\\nb\\\"c\\\\d\\u{7}\"", Parameters.quoted("a\nb\"c\\d\u0007"));
    }
}
