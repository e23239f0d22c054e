/**
 * Holds the flow inside a Java virtual machine: classes of requests with caps and promises, and long work that stands back at
 * checkpoints so that the promises are kept.
 *
 * <p>{@link weir.regulator.Regulator} is the whole; a servlet filter (of its own module) sends requests through it, and long work
 * calls {@link weir.regulator.Checkpoint#tick}. Nothing here needs another library; the Java platform's own {@link
 * java.lang.System.Logger} and JMX tell what it does. It starts no threads but two daemons that measure, while others work beside a
 * class with a promise, what requests wait before they are seen, and end a second later.
 */
package weir.regulator;
