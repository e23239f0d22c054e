package weir.idle;

/** What the server tells about itself. */
final class Pages {
    static final String READY = "/ready";
    static final String METRICS = "/metrics";

    private final Figures figures;
    private volatile boolean ready;

    Pages(Figures figures) {
        this.figures = figures;
    }

    /** A page: its status and its text. */
    record Page(int status, String text) {}

    /** The load beforehand is over. */
    void beReady() {
        ready = true;
    }

    /** The page at this path. */
    Page at(String path) {
        return switch (path) {
            case READY -> ready ? new Page(200, "ready\n") : new Page(503, "the load beforehand is not over\n");
            case METRICS -> new Page(200, figures.page());
            default -> new Page(404, "there are " + Entrance.CONSUMER + ", " + READY + " and " + METRICS + "\n");
        };
    }
}
