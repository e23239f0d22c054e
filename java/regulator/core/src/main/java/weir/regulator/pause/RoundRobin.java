package weir.regulator.pause;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.TreeSet;

/**
 * Who of those that stand still goes on first: round robin with a long quantum.
 *
 * <p>Whoever comes to stand still brings a moment at which one of them may go on. The earliest moment belongs to the one with the
 * lowest number, whoever brought it. So a piece of work goes on until it is over or has run for {@link #QUANTUM_NS}, while the others
 * stand where they are; then it stands behind them.
 *
 * <p>To take turns after each stretch would give each the same on average, but all of them would be half done for all of the
 * time, and hold what they need for their work: memory above all, which each collection of garbage has to go through while
 * everybody waits. And without any quantum whoever is short would wait for those that take minutes.
 */
final class RoundRobin {
    /** Running time: longer than most requests, and short enough that one after twenty long ones waits for a second of it. */
    static final long QUANTUM_NS = 50_000_000L;

    private final TreeSet<Turn> standing = new TreeSet<>();
    /** In the running time that has been given out, one for each of them. */
    private final Deque<Double> moments = new ArrayDeque<>();
    private long numbers;

    /** It has run for so long, and stands still. */
    void stands(Turn turn, long ranNs, double moment) {
        turn.ranNs += ranNs;
        boolean isOver = turn.ranNs >= QUANTUM_NS && !standing.contains(turn);
        if (turn.number == 0 || isOver) {
            turn.number = ++numbers;
            turn.ranNs = isOver ? 0 : turn.ranNs;
        }
        if (standing.add(turn)) {
            moments.add(moment);
        }
    }

    /** It goes on, for whatever reason; that takes the earliest moment from those that stay. */
    void goesOn(Turn turn) {
        if (standing.remove(turn)) {
            moments.remove();
        }
    }

    /** How many go on before it. */
    int before(Turn turn) {
        return standing.headSet(turn).size();
    }

    /** The moment at which somebody goes on before whom so many do. */
    double moment(int before) {
        Iterator<Double> each = moments.iterator();
        double moment = Double.NEGATIVE_INFINITY;
        for (int at = 0; at <= before && each.hasNext(); at++) {
            moment = each.next();
        }
        return moment;
    }
}
