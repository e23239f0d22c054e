package weir.idle;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.impl.DefaultCamelContext;

/**
 * Flows beside the measured one, with the threads that a peak has left behind: a hundred each, which wait in their flow's queue.
 *
 * <p>Each thread has really worked ({@link #work}): its stack has been used, and whatever Camel, the HTTP client and the XML parser keep
 * for a thread is there.
 */
final class IdleFlows implements AutoCloseable {
    private static final int THREADS_OF_A_FLOW = 100;
    private static final int LOOK_MS = 5;
    private static final int PEAK_S = 60;
    private static final int FURTHER_ROUNDS = 10;

    private final DefaultCamelContext context = new DefaultCamelContext();
    private final Settings settings;
    private final int threads;
    private final Set<Thread> haveWorked = ConcurrentHashMap.newKeySet();
    private final AtomicLong worked = new AtomicLong();

    private IdleFlows(Settings settings) {
        this.settings = settings;
        this.threads = settings.tomcat() ? 0 : settings.idle();
    }

    /** Flows that {@link #work} starts. */
    static IdleFlows prepare(Settings settings) {
        IdleFlows flows = new IdleFlows(settings);
        if (settings.frames() > 0) {
            flows.context.getExecutorServiceManager().setThreadPoolFactory(new DeepThreads(settings.frames()));
        }
        Http.prepare(flows.context);
        flows.context.start();
        return flows;
    }

    private void start(int flow, int threadsOfIt) throws Exception {
        CountDownLatch peak = new CountDownLatch(threadsOfIt);
        String from = queue(flow) + "?concurrentConsumers=" + threadsOfIt + "&pollTimeout=" + settings.pollMs();
        context.addRoutes(new OrderFlow(from, settings.provider(), () -> await(peak), (tookNs, failed) -> count(failed)));
    }

    /** The first message of each thread stays until all threads of the flow have one, as in a peak that makes a pool grow. */
    private static void await(CountDownLatch peak) {
        peak.countDown();
        try {
            if (!peak.await(PEAK_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException(peak.getCount() + " threads of a flow have no message");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the server stops", e);
        }
    }

    private void count(boolean failed) {
        if (!failed) {
            haveWorked.add(Thread.currentThread());
        }
        worked.incrementAndGet();
    }

    private static String queue(int flow) {
        return "seda:idle-" + flow;
    }

    /** How many of the threads have worked and are idle now. */
    long idle() {
        return haveWorked.size();
    }

    /**
     * Starts one flow after the other and gives them this many messages or more together, so that every thread works. One whose messages
     * have failed, as the provider may refuse one of a hundred that come at once, gets further ones. Threads that wake up every second
     * take CPU time from the flows behind them, which would not become ready if all were started first.
     *
     * @return how many messages they were
     */
    long work(byte[] message, int messages) throws Exception {
        ProducerTemplate template = context.createProducerTemplate();
        int flows = (threads + THREADS_OF_A_FLOW - 1) / THREADS_OF_A_FLOW;
        for (int flow = 0; flow < flows; flow++) {
            int threadsOfIt = Math.min(THREADS_OF_A_FLOW, threads - flow * THREADS_OF_A_FLOW);
            start(flow, threadsOfIt);
            int expected = haveWorked.size() + threadsOfIt;
            send(template, flow, message, Math.max(threadsOfIt, messages / flows));
            for (int round = 0; haveWorked.size() < expected; round++) {
                if (round == FURTHER_ROUNDS) {
                    throw new IllegalStateException((expected - haveWorked.size()) + " of the " + threadsOfIt + " threads of flow "
                            + flow + " had no message that succeeded, after " + round + " rounds more");
                }
                send(template, flow, message, threadsOfIt);
            }
        }
        return worked.get();
    }

    /** Returns when this many messages of a flow have been worked on. */
    private void send(ProducerTemplate template, int flow, byte[] message, int messages) throws InterruptedException {
        long until = worked.get() + messages;
        for (int sent = 0; sent < messages; sent++) {
            template.sendBody(queue(flow) + "?blockWhenFull=true", message);
        }
        while (worked.get() < until) {
            Thread.sleep(LOOK_MS);
        }
    }

    @Override
    public void close() {
        context.stop();
    }
}
