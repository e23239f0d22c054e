package weir.regulator;

/** Hears how long each admitted request has waited for it. It is called by the request's own thread, and has to be quick. */
@FunctionalInterface
public interface WaitListener {
    /**
     * A request was admitted.
     *
     * @param serviceClass the name of its class
     * @param nanos how long it waited; 0 if it was admitted at once
     */
    void waited(String serviceClass, long nanos);
}
