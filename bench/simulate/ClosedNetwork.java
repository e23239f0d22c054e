import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import umontreal.ssj.randvar.ExponentialGen;
import umontreal.ssj.rng.MRG32k3a;
import umontreal.ssj.simevents.Event;
import umontreal.ssj.simevents.Sim;

/**
 * The closed network of the bench in SSJ: users think, then visit three stations in order of arrival.
 *
 * <p>Arguments: users, simulated seconds. The first run warms the virtual machine up; the second is timed, in
 * processor time of its thread. An event is the end of a
 * think time or of a service.
 */
public final class ClosedNetwork {
    private static final double[] SERVICE_MEANS = {0.0005, 0.0009, 0.0005};

    private final Station[] stations = new Station[SERVICE_MEANS.length];
    private final ExponentialGen think = new ExponentialGen(new MRG32k3a(), 1.0);
    private long events;
    private long answers;

    private final class Station {
        private final ArrayDeque<User> queue = new ArrayDeque<>();
        private final ExponentialGen service;
        private boolean busy;

        Station(double mean) {
            service = new ExponentialGen(new MRG32k3a(), 1.0 / mean);
        }

        void arrive(User user) {
            if (busy) {
                queue.addLast(user);
            } else {
                busy = true;
                user.schedule(service.nextDouble());
            }
        }

        void depart() {
            User next = queue.pollFirst();
            if (next == null) {
                busy = false;
            } else {
                next.schedule(service.nextDouble());
            }
        }
    }

    private final class User extends Event {
        /** The station it is at; -1 while it thinks. */
        private int at = -1;

        @Override
        public void actions() {
            events++;
            if (at >= 0) {
                stations[at].depart();
            }
            at++;
            if (at < stations.length) {
                stations[at].arrive(this);
            } else {
                answers++;
                at = -1;
                schedule(think.nextDouble());
            }
        }
    }

    private void run(int users, double seconds) {
        Sim.init();
        for (int index = 0; index < stations.length; index++) {
            stations[index] = new Station(SERVICE_MEANS[index]);
        }
        new Event() {
            @Override
            public void actions() {
                Sim.stop();
            }
        }.schedule(seconds);
        for (int user = 0; user < users; user++) {
            new User().schedule(think.nextDouble());
        }
        Sim.start();
    }

    public static void main(String[] arguments) {
        int users = Integer.parseInt(arguments[0]);
        double seconds = Double.parseDouble(arguments[1]);
        new ClosedNetwork().run(users, seconds / 4);
        ClosedNetwork network = new ClosedNetwork();
        ThreadMXBean thread = ManagementFactory.getThreadMXBean();
        long start = thread.getCurrentThreadCpuTime();
        network.run(users, seconds);
        double elapsed = (thread.getCurrentThreadCpuTime() - start) / 1e9;
        System.out.printf(
                "{\"events\":%d,\"seconds\":%.4f,\"throughput_per_s\":%.4f}%n",
                network.events, elapsed, network.answers / seconds);
    }
}
