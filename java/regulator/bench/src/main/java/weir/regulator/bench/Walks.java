package weir.regulator.bench;

/** Work as a report does it: walks over a tree that is in memory, each about as long as a few hundred microseconds. */
final class Walks {
    private static final int NODES = 1 << 15;

    private final int[] left = new int[NODES];
    private final int[] right = new int[NODES];
    private final long[] value = new long[NODES];
    private long sink;

    Walks() {
        for (int node = 1; node < NODES; node++) {
            value[node] = node * 0x9e3779b97f4a7c15L;
            left[node] = 2 * node < NODES ? 2 * node : 0;
            right[node] = 2 * node + 1 < NODES ? 2 * node + 1 : 0;
        }
    }

    void walk() {
        sink += sum(1);
    }

    private long sum(int node) {
        return node == 0 ? 0 : (value[node] ^ sum(left[node])) + sum(right[node]);
    }

    /** So that nothing is left out as useless. */
    long sink() {
        return sink;
    }
}
