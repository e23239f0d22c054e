package weir.regulator;

import java.util.Map;

/** A regulator in JMX: {@code weir.regulator:type=Regulator,name=...}. */
public interface RegulatorMXBean {
    /** Whether anything is held at all. */
    boolean isOn();

    /** Switches it off and on; requests in flight and what has been learnt stay. */
    void setOn(boolean on);

    /** All that was said, by name. */
    Map<String, String> getSettings();

    /** How each promise stands: {@code KEPT}, {@code REGAINED} or {@code IMPOSSIBLE}, by class. */
    Map<String, String> getPromises();

    /** All metrics by name and tags, as in {@code weir.regulator.requests.admitted{class=light}}. */
    Map<String, Double> getMetrics();

    /**
     * Changes one setting while requests run, such as {@code promise.light} to {@code p99 <= 50 ms}. What has been learnt for
     * others stays.
     *
     * @throws IllegalArgumentException that says what is wrong with it; then nothing has changed
     */
    void set(String name, String value);

    /** Takes one setting out. */
    void unset(String name);
}
