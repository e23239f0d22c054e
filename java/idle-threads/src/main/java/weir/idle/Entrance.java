package weir.idle;

/** What takes requests from the network: {@code POST /consumer}, {@code GET /ready}, {@code GET /metrics}. */
interface Entrance extends AutoCloseable {
    String CONSUMER = "/consumer";

    /** Begins to listen, after the measured flow has been started. */
    void open() throws Exception;

    /** Where it listens. */
    int port();
}
