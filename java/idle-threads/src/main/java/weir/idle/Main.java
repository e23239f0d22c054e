package weir.idle;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** {@code provider PORT}, or {@code serve --port … --provider …}; runs until it is ended by a signal. */
public final class Main {
    private static final int FAILED = 1;
    private static final int BAD_INPUT = 2;

    private Main() {}

    /** Starts one of the two. */
    public static void main(String[] arguments) throws InterruptedException {
        List<String> words = Arrays.asList(arguments);
        try {
            switch (words.isEmpty() ? "" : words.get(0)) {
                case "provider" -> Provider.start(Options.of(words.subList(1, words.size()), "--port").number("--port", 0, 65_535));
                case "serve" -> Server.start(Settings.of(words.subList(1, words.size())));
                default -> throw new BadOption("the first word says what is started: provider, or serve");
            }
        } catch (BadOption e) {
            System.err.println("idle-threads: " + e.getMessage());
            System.exit(BAD_INPUT);
        } catch (Exception | Error e) {
            // Threads that have started would keep a server alive that does not serve.
            System.err.println("idle-threads: failed to start: " + e + wayOut(e));
            System.exit(FAILED);
        }
        new CountDownLatch(1).await();
    }

    private static String wayOut(Throwable error) {
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at instanceof OutOfMemoryError && String.valueOf(at.getMessage()).contains("native thread")) {
                return "; ask for fewer threads with --idle, or raise the limit: ulimit -u, pids.max of the control group, vm.max_map_count";
            }
        }
        return "";
    }
}
