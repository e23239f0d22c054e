package weir.idle;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import org.apache.camel.impl.DefaultCamelContext;

/**
 * The server: the measured flow behind Jetty or Tomcat, and the idle flows. It answers on its port from the beginning, and says that
 * it is ready once the load beforehand is over.
 */
final class Server implements AutoCloseable {
    /** The measured flow without a queue in front. */
    static final String ORDER = "direct:order";

    /** Lines of the orders beforehand: short, since they are many. */
    private static final int LINES_BEFOREHAND = 10;
    /** The provider may refuse an order: so often again, until each thread has had one that succeeded. */
    private static final int FURTHER_ROUNDS = 10;

    private final IdleFlows idle;
    private final DefaultCamelContext context = new DefaultCamelContext();
    private final Pages pages;
    private final Entrance entrance;

    private Server(Settings settings) throws Exception {
        idle = IdleFlows.prepare(settings);
        Figures figures = new Figures(this::idleThreads);
        pages = new Pages(figures);
        Http.prepare(context);
        context.addRoutes(new OrderFlow(ORDER, settings.provider(), () -> {}, figures::count));
        entrance = settings.tomcat() ? new TomcatEntrance(settings, context, pages) : new JettyEntrance(settings, context, pages);
    }

    static Server start(Settings settings) throws Exception {
        // Read when the first of Camel's classes that deal with threads is loaded.
        System.setProperty("camel.threads.virtual.enabled", String.valueOf(settings.virtual()));
        Server server = new Server(settings);
        server.context.start();
        server.entrance.open();
        server.workBeforehand(settings);
        server.pages.beReady();
        return server;
    }

    /**
     * The same number of messages whatever the number of idle threads, so that the virtual machine has compiled as much in each case.
     */
    private void workBeforehand(Settings settings) throws Exception {
        byte[] order = Soap.order(LINES_BEFOREHAND);
        long left = settings.beforehand() - idle.work(order, settings.beforehand());
        ExecutorService senders = Executors.newFixedThreadPool(settings.instances());
        try {
            work(senders, order, left);
            for (int round = 0; idleThreads() < settings.idle(); round++) {
                if (round == FURTHER_ROUNDS) {
                    throw new IllegalStateException((settings.idle() - idleThreads()) + " of " + settings.idle()
                            + " threads had no order that succeeded, after " + round + " rounds more");
                }
                entrance.workOnTheRest(order);
            }
        } finally {
            senders.shutdown();
        }
    }

    private void work(ExecutorService senders, byte[] order, long orders) throws Exception {
        List<Callable<Void>> all = new ArrayList<>();
        for (long sent = 0; sent < orders; sent++) {
            all.add(() -> {
                entrance.work(order);
                return null;
            });
        }
        for (Future<Void> one : senders.invokeAll(all)) {
            one.get();
        }
    }

    /** Threads that have worked, as in a peak, and wait now. */
    private long idleThreads() {
        return idle.idle() + entrance.idle();
    }

    /** Where it listens. */
    int port() {
        return entrance.port();
    }

    @Override
    public void close() throws Exception {
        entrance.close();
        context.stop();
        idle.close();
    }
}
