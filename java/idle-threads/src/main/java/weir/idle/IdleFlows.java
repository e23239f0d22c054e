package weir.idle;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.camel.CamelContext;
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

    private final CamelContext context;
    private final int threads;
    /** One for each flow: its threads have not all worked at the same time yet. */
    private final List<CountDownLatch> peaks = new ArrayList<>();
    private final Set<Thread> haveWorked = ConcurrentHashMap.newKeySet();
    private final AtomicLong worked = new AtomicLong();

    private IdleFlows(CamelContext context, int threads) {
        this.context = context;
        this.threads = threads;
    }

    /** Starts the flows. */
    static IdleFlows start(Settings settings) throws Exception {
        DefaultCamelContext context = new DefaultCamelContext();
        if (settings.frames() > 0) {
            context.getExecutorServiceManager().setThreadPoolFactory(new DeepThreads(settings.frames()));
        }
        Http.prepare(context);
        IdleFlows flows = new IdleFlows(context, settings.tomcat() ? 0 : settings.idle());
        for (int first = 0; first < flows.threads; first += THREADS_OF_A_FLOW) {
            flows.add(Math.min(THREADS_OF_A_FLOW, flows.threads - first), settings);
        }
        context.start();
        return flows;
    }

    private void add(int threadsOfIt, Settings settings) throws Exception {
        CountDownLatch peak = new CountDownLatch(threadsOfIt);
        String from = queue(peaks.size()) + "?concurrentConsumers=" + threadsOfIt + "&pollTimeout=" + settings.pollMs();
        peaks.add(peak);
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
     * Gives the flows this many messages or more, one flow after the other, so that every thread works.
     *
     * @return how many they were
     */
    long work(byte[] message, int messages) throws InterruptedException {
        ProducerTemplate template = context.createProducerTemplate();
        for (int flow = 0; flow < peaks.size(); flow++) {
            long own = Math.max(peaks.get(flow).getCount(), messages / peaks.size());
            long until = worked.get() + own;
            for (long sent = 0; sent < own; sent++) {
                template.sendBody(queue(flow), message);
            }
            while (worked.get() < until) {
                Thread.sleep(LOOK_MS);
            }
        }
        if (haveWorked.size() < threads) {
            throw new IllegalStateException("only " + haveWorked.size() + " of " + threads + " idle threads have worked");
        }
        return worked.get();
    }

    @Override
    public void close() {
        context.stop();
    }
}
