package weir.stress;

import java.util.List;

/** What the application does at one path. */
interface Endpoint {
    /** The methods that it answers to. */
    default List<String> methods() {
        return List.of("GET");
    }

    /** Runs one request on the calling thread. */
    Answer answer(Parameters parameters) throws BadParameter, Unavailable, InterruptedException;
}
