package weir.idle;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import javax.xml.XMLConstants;
import javax.xml.transform.ErrorListener;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** A message turned into another by an XSLT stylesheet, compiled once. Safe for threads. */
final class Mapping {
    private final Templates templates;

    /** The stylesheet of this name beside this class. */
    Mapping(String stylesheet) {
        try (InputStream text = Mapping.class.getResourceAsStream(stylesheet)) {
            TransformerFactory factory = TransformerFactory.newInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setAttribute(XMLConstants.ACCESS_EXTERNAL_DTD, "");
            factory.setAttribute(XMLConstants.ACCESS_EXTERNAL_STYLESHEET, "");
            templates = factory.newTemplates(new StreamSource(text));
        } catch (IOException | TransformerException e) {
            throw new IllegalStateException("failed to compile " + stylesheet, e);
        }
    }

    /** The other message; fails when this one is not well-formed. */
    byte[] apply(byte[] message) throws TransformerException {
        ByteArrayOutputStream made = new ByteArrayOutputStream(1_024);
        Transformer transformer = templates.newTransformer();
        transformer.setErrorListener(Thrower.INSTANCE);
        transformer.transform(new StreamSource(new ByteArrayInputStream(message)), new StreamResult(made));
        return made.toByteArray();
    }

    /** Without one, the parser prints what is wrong with a message. */
    private enum Thrower implements ErrorListener {
        INSTANCE;

        @Override
        public void warning(TransformerException e) {
            // What a stylesheet warns of is not the message's fault.
        }

        @Override
        public void error(TransformerException e) throws TransformerException {
            throw e;
        }

        @Override
        public void fatalError(TransformerException e) throws TransformerException {
            throw e;
        }
    }
}
