package weir.regulator.recipe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The Java of the page, in the application of somebody who has boards and reports. */
final class Recipe {
    static final String APPLICATION = "shop.Application";

    private static final String BEGIN = "```java";
    private static final String END = "```";
    private static final String FIELD = "private static final ";
    private static final String TICK = "tick(1);";

    private final List<String> blocks;

    private Recipe(List<String> blocks) {
        this.blocks = blocks;
    }

    static Recipe of(Path page) throws IOException {
        List<String> blocks = new ArrayList<>();
        List<String> open = null;
        for (String line : Files.readAllLines(page)) {
            String words = line.strip();
            if (words.equals(BEGIN)) {
                open = new ArrayList<>();
            } else if (words.equals(END) && open != null) {
                blocks.add(String.join("\n", open));
                open = null;
            } else if (open != null) {
                open.add(line);
            }
        }
        return new Recipe(blocks);
    }

    /** What is typed into the application's class: all blocks but that of the checkpoint, which stands in two places. */
    private String beans() {
        return blocks.stream().filter(block -> block.contains("@Bean")).collect(Collectors.joining("\n\n"));
    }

    /** The line of the checkpoint's block that begins or ends like this. */
    private String checkpoint(String part) {
        List<String> lines = blocks.stream()
                .filter(block -> !block.contains("@Bean"))
                .flatMap(String::lines)
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
                "import io.micrometer.core.instrument.*;",
                "import io.micrometer.core.instrument.binder.MeterBinder;",
                "import jakarta.servlet.DispatcherType;",
                "import java.util.*;",
                "import java.util.concurrent.Callable;",
                "import java.util.stream.Collectors;",
                "import org.springframework.boot.autoconfigure.SpringBootApplication;",
                "import org.springframework.boot.web.servlet.FilterRegistrationBean;",
                "import org.springframework.context.annotation.Bean;",
                "import org.springframework.core.Ordered;",
                "import org.springframework.core.task.TaskDecorator;",
                "import org.springframework.web.bind.annotation.*;",
                "import weir.regulator.*;",
                "import weir.regulator.servlet.RegulatorFilter;",
                "@SpringBootApplication",
                "@RestController",
                "public class Application {",
                checkpoint(FIELD),
                beans(),
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
