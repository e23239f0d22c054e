package weir.regulator.pause;

/**
 * The place of one piece of work among all that take turns: it keeps a number until it has run for a quantum, and gets the highest
 * then. Only {@link Pace} looks inside.
 */
public final class Turn implements Comparable<Turn> {
    /** 0: none yet. */
    long number;
    /** How long it has run with this number. */
    long ranNs;

    /** Of work that has not run yet. */
    public Turn() {}

    @Override
    public int compareTo(Turn other) {
        return Long.compare(number, other.number);
    }
}
