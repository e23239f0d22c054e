/**
 * The application that servers under test run: requests that compute, sleep, hold database connections and read pages, each
 * for as long as its parameters say.
 *
 * <p>Parameters, limits, messages and answers are those of Weir's built-in sample server, so that a study moves from one to
 * the other without a change; only {@code /heavy/numeric} and {@code /heavy/disk} are this one's alone. Nothing is shared
 * between requests but the pool, the file of {@code /heavy} and the counts.
 */
package weir.stress;
