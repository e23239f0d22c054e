/**
 * How long work of low importance stands back, and when.
 *
 * <p>Two rules. {@link weir.regulator.pause.ProgressJudge} needs nobody's word: work that makes less progress than it makes
 * usually is in somebody's way, and pauses (Douceur and Bolosky 1999). {@link weir.regulator.pause.Pace} is steered by a promise:
 * all such work together may run for a share of the time, and that share is what the promise leaves over; {@link
 * weir.regulator.pause.RoundRobin} says whose turn it is. Neither reads a clock nor sleeps: time is an argument, in nanoseconds.
 */
package weir.regulator.pause;
