package weir.stress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The XML file of {@code /heavy}: about 100 KB with elements, attributes and text, the same on every server. */
final class Catalogue {
    /** Each item is one element with four children, about 150 bytes. */
    private static final int ITEMS = 650;

    private Catalogue() {}

    /** Writes the file into a directory and says where it is. */
    static Path write(Path directory) throws IOException {
        Path file = directory.resolve("weir-stress.xml");
        Files.write(file, text().getBytes(StandardCharsets.UTF_8));
        return file;
    }

    static String text() {
        StringBuilder text = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<catalogue>\n");
        for (int id = 1; id <= ITEMS; id++) {
            text.append("<item id=\"").append(id).append("\" kind=\"k").append(id % 7).append("\"><name>Part number ").append(id)
                    .append("</name><price currency=\"EUR\">").append(id * 37 % 1_000).append('.')
                    .append(id % 100 < 10 ? "0" : "").append(id % 100).append("</price><stock>").append(id * 13 % 500)
                    .append("</stock><note>Kept on shelf ").append(id % 40).append(" of hall ").append(id % 9)
                    .append("</note></item>\n");
        }
        return text.append("</catalogue>\n").toString();
    }
}
