package weir.idle;

/** What takes requests from the network: {@code POST /consumer}, {@code GET /ready}, {@code GET /metrics}. */
interface Entrance extends AutoCloseable {
    String CONSUMER = "/consumer";

    /** Begins to listen, after the measured flow has been started. */
    void open() throws Exception;

    /** Where it listens. */
    int port();

    /** Gives the measured flow an order of the load beforehand, and waits for its answer. */
    void work(byte[] order) throws Exception;

    /** Gives an order to each of its own threads that chance has left without one. */
    default void workOnTheRest(byte[] order) throws Exception {}

    /** Threads of its own that have worked and that the flow does not need. */
    default long idle() {
        return 0;
    }
}
