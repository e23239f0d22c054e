package weir.idle;

import java.util.List;

/**
 * How the server is started.
 *
 * @param port where it listens, on the loopback address; 0 takes a free port
 * @param provider the port of the SOAP provider
 * @param instances how many messages the measured flow works on at a time
 * @param idle how many threads are left over from a peak
 * @param pollMs how long each of them waits at a time before it looks up, in milliseconds
 * @param frames how many method calls deep they wait, beside those of the flow itself
 * @param virtual whether the flows' threads are virtual ones
 * @param tomcat whether Tomcat takes the requests, with its own threads idle, instead of Jetty and flows
 * @param beforehand how many messages are worked on before the server says that it is ready
 */
record Settings(
        int port, int provider, int instances, int idle, int pollMs, int frames, boolean virtual, boolean tomcat, int beforehand) {
    /** Camel takes this for "for ever": the longest wait that it can be told, 24 days. */
    static final int WITHOUT_END = Integer.MAX_VALUE;

    private static final int IDLE_MAX = 20_000;
    /** More consumers of one queue Camel refuses. */
    private static final int INSTANCES_MAX = 500;
    /** Each frame takes about 100 bytes of a stack that may have only 256 KiB. */
    private static final int FRAMES_MAX = 1_000;
    private static final int VIRTUAL_SINCE = 21;

    static Settings of(List<String> words) throws BadOption {
        Options options = Options.of(
                words,
                "--port",
                "--provider",
                "--instances",
                "--idle",
                "--poll-ms",
                "--frames",
                "--virtual",
                "--tomcat",
                "--beforehand");
        int pollMs = options.number("--poll-ms", 0, WITHOUT_END, 1_000);
        Settings settings = new Settings(
                options.number("--port", 0, 65_535),
                options.number("--provider", 1, 65_535),
                options.number("--instances", 1, INSTANCES_MAX, 10),
                options.number("--idle", 0, IDLE_MAX, 0),
                pollMs == 0 ? WITHOUT_END : pollMs,
                options.number("--frames", 0, FRAMES_MAX, 0),
                options.isOn("--virtual"),
                options.isOn("--tomcat"),
                options.number("--beforehand", 0, 1_000_000, 0));
        settings.check(Runtime.version().feature());
        return settings;
    }

    private void check(int java) throws BadOption {
        if (virtual && java < VIRTUAL_SINCE) {
            throw new BadOption("--virtual 1 needs Java " + VIRTUAL_SINCE + " or newer, this is " + java);
        }
        if (tomcat && (virtual || frames > 0)) {
            throw new BadOption("--virtual and --frames are of the flows' threads: leave them out with --tomcat 1");
        }
        if (virtual && frames > 0) {
            throw new BadOption("--frames is of platform threads: leave it out with --virtual 1");
        }
    }
}
