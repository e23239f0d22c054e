package weir.regulator.pause;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** Who of those that take turns has gone on and not come back: it runs, or would if it had a CPU. */
final class Running {
    /** Whoever stays away for longer is taken to wait for something else than a CPU, and no longer to run. */
    static final long AWAY_NS = 100_000_000L;

    /** When each of them went on, the earliest first. */
    private final Map<Turn, Long> since = new LinkedHashMap<>();

    void goesOn(Turn turn, long now) {
        since.remove(turn);
        since.put(turn, now);
    }

    /** It has come to a checkpoint, or is over. */
    void stops(Turn turn) {
        since.remove(turn);
    }

    /** How many of the others do. */
    int countBeside(Turn turn, long now) {
        Iterator<Long> each = since.values().iterator();
        while (each.hasNext() && now - each.next() >= AWAY_NS) {
            each.remove();
        }
        return since.size() - (since.containsKey(turn) ? 1 : 0);
    }
}
