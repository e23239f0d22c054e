package weir.stress;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;
import weir.regulator.Checkpoint;

/**
 * {@code /heavy}: parses an XML file and walks its tree again and again, work with memory and a file behind it.
 *
 * <p>Each walk is a step: {@link Steps} says what is behind it.
 */
final class Heavy implements Endpoint {
    private static final NumberParameter WALKS = new NumberParameter("walks", "times", 1, 10_000, 100);
    private static final NumberParameter PAUSE = Steps.pause("walk");

    private static final Checkpoint CHECKPOINT = Checkpoint.of("heavy");

    private final Path file;

    Heavy(Path file) {
        this.file = file;
    }

    @Override
    public Answer answer(Parameters parameters) throws BadParameter, Unavailable, InterruptedException {
        parameters.expectOnly(WALKS.name(), PAUSE.name());
        long walks = parameters.number(WALKS);
        long pauseMs = parameters.number(PAUSE);

        CHECKPOINT.tick(0);
        Document document = parse();
        Tally tally = new Tally();
        Steps.run(walks, pauseMs, CHECKPOINT, () -> {
            tally.clear();
            tally.walk(document.getDocumentElement());
        });
        return Answer.json("{\"walks\":" + walks + ",\"elements\":" + tally.elements + ",\"attributes\":" + tally.attributes
                + ",\"text_bytes\":" + tally.textBytes + "}");
    }

    private Document parse() throws Unavailable {
        try (InputStream in = new PassingStream(Files.newInputStream(file), CHECKPOINT)) {
            return DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(in);
        } catch (IOException | SAXException | ParserConfigurationException e) {
            throw new Unavailable(500, "failed to read the XML file: " + e.getMessage(), e);
        }
    }

    /** What a walk counts. */
    static final class Tally {
        long elements;
        long attributes;
        long textBytes;

        void clear() {
            elements = 0;
            attributes = 0;
            textBytes = 0;
        }

        /** Visits {@code node} and every node below it, depth first. */
        void walk(Node node) {
            if (node.getNodeType() != Node.ELEMENT_NODE) {
                textBytes += node.getNodeValue().getBytes(StandardCharsets.UTF_8).length;
                return;
            }
            elements++;
            attributes += node.getAttributes().getLength();
            for (Node child = node.getFirstChild(); child != null; child = child.getNextSibling()) {
                walk(child);
            }
        }
    }
}
