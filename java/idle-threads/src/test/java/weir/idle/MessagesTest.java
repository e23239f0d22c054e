package weir.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.transform.TransformerException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessagesTest {
    @Test
    void anOrderBecomesAQuestionForPrices() throws TransformerException {
        String question = text(new Mapping("order-to-prices.xsl").apply(Soap.order(12)));
        assertTrue(question.contains("customer=\"17\" pieces=\"78\""), question);
        assertEquals(12, question.split("<article ").length - 1);
        assertTrue(question.contains("<article pieces=\"3\">A-3</article>"), question);
    }

    @Test
    void pricesBecomeTheAnswer() throws TransformerException {
        String answer = text(new Mapping("prices-to-answer.xsl").apply(Soap.prices(20)));
        assertTrue(answer.contains("<articles>20</articles><total>210</total>"), answer);
    }

    @Test
    void whatIsNoMessageIsRefused() {
        Mapping mapping = new Mapping("order-to-prices.xsl");
        assertThrows(TransformerException.class, () -> mapping.apply("<a><b></a>".getBytes(StandardCharsets.UTF_8)));
        byte[] entity = "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>".getBytes(StandardCharsets.UTF_8);
        assertThrows(TransformerException.class, () -> mapping.apply(entity));
    }

    @Test
    void aFaultIsWellFormedWhateverWentWrong() throws TransformerException {
        assertTrue(text(Soap.fault("a < b & c")).contains("a &lt; b &amp; c"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--port 1 --provider 2 --speed 3|--speed is not known",
        "--port 1 --provider|--provider needs a number",
        "--port one --provider 2|whole number, not one",
        "--port 1|--provider is missing",
        "--port 1 --provider 2 --idle 20001|between 0 and 20000",
        "--port 1 --provider 2 --port 3|given twice",
        "--port 1 --provider 2 --tomcat 1 --frames 9|leave them out with --tomcat 1"
    })
    void aCommandLineSaysWhatIsWrongWithIt(String line, String says) {
        BadOption error = assertThrows(BadOption.class, () -> Settings.of(List.of(line.split(" "))));
        assertTrue(error.getMessage().contains(says), error.getMessage());
    }

    @Test
    void aPollOfZeroIsOneWithoutEnd() throws BadOption {
        Settings settings = Settings.of(List.of("--port", "0", "--provider", "2", "--poll-ms", "0"));
        assertEquals(Settings.WITHOUT_END, settings.pollMs());
        assertEquals(10, settings.instances());
    }

    private static String text(byte[] message) {
        return new String(message, StandardCharsets.UTF_8);
    }
}
