/**
 * An integration server with flows that call a SOAP provider, and threads left over from a peak.
 *
 * <p>{@link weir.idle.Main} starts the provider or the server. The measured flow ({@link weir.idle.OrderFlow}) has instances of its
 * own; {@link weir.idle.IdleFlows} are others that have been under load and now wait for messages that do not come.
 */
package weir.idle;
