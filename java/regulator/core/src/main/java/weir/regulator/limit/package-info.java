/**
 * Who is admitted, who waits, who is refused: the algorithms of Weir's gateway, in Java.
 *
 * <p>{@link weir.regulator.limit.Admission} is a state machine without threads, clock or output: time is an argument, in
 * nanoseconds since an origin that the caller chose. The same vectors (JSON files that say step by step what happens and what
 * has to be said to it) are replayed by this implementation and by the gateway's, so that the two hold the same.
 */
package weir.regulator.limit;
