package weir.regulator.recipe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What the page has one type, in the application of somebody who has boards and reports. */
final class Recipe {
    static final String APPLICATION = "shop.Application";

    private static final String JAVA = "```java";
    private static final String YAML = "```yaml";
    private static final String END = "```";
    private static final String FIELD = "private static final ";
    private static final String TICK = "tick(1);";

    private final String java;
    private final String settings;

    private Recipe(String java, String settings) {
        this.java = java;
        this.settings = settings;
    }

    static Recipe of(Path page) throws IOException {
        List<String> lines = Files.readAllLines(page);
        return new Recipe(block(lines, JAVA), block(lines, YAML));
    }

    /** The one block of a language, without what its step is indented by. */
    private static String block(List<String> lines, String begin) {
        List<String> blocks = new ArrayList<>();
        StringBuilder open = null;
        int indent = 0;
        for (String line : lines) {
            String words = line.strip();
            if (words.equals(begin)) {
                open = new StringBuilder();
                indent = line.indexOf(begin);
            } else if (words.equals(END) && open != null) {
                blocks.add(open.toString());
                open = null;
            } else if (open != null) {
                open.append(line.substring(Math.min(indent, line.length()))).append('\n');
            }
        }
        if (blocks.size() != 1) {
            throw new IllegalStateException("the page has " + blocks.size() + " blocks of " + begin);
        }
        return blocks.get(0);
    }

    /** The page's {@code application.yml}. */
    String settings() {
        return settings;
    }

    /** The line of the checkpoint's block that begins or ends like this. */
    private String checkpoint(String part) {
        List<String> lines = java.lines()
                .map(String::strip)
                .filter(line -> line.startsWith(part) || line.endsWith(part))
                .collect(Collectors.toList());
        if (lines.size() != 1) {
            throw new IllegalStateException("the page has " + lines.size() + " lines with " + part);
        }
        return lines.get(0);
    }

    /** Reports are worked on in the request's thread, and in another one. */
    String application() {
        return String.join(
                "\n",
                "package shop;",
                "import java.util.concurrent.Callable;",
                "import org.springframework.boot.autoconfigure.SpringBootApplication;",
                "import org.springframework.web.bind.annotation.*;",
                "import weir.regulator.*;",
                "@SpringBootApplication",
                "@RestController",
                "public class Application {",
                checkpoint(FIELD),
                "@GetMapping(\"/boards/{board}\") public String board() { return \"posts\"; }",
                "@GetMapping(\"/reports/now\") public String report() {",
                "    double sum = 0;",
                "    for (int row = 0; row < 100; row++) {",
                "        for (int field = 1; field < 50_000; field++) { sum += Math.log(field); }",
                "        " + checkpoint(TICK),
                "    }",
                "    return String.valueOf(sum);",
                "}",
                "@GetMapping(\"/reports/later\") public Callable<String> later() { return this::report; }",
                "}");
    }
}
