package weir.regulator;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import weir.regulator.limit.ClassSeen;
import weir.regulator.limit.Kind;
import weir.regulator.limit.Permit;
import weir.regulator.pause.Lateness;
import weir.regulator.pause.Pace;

/**
 * Holds the flow inside one Java virtual machine.
 *
 * <p>A request {@linkplain #enter enters} in a class, waits or is refused as the {@link Settings} say, and is finished once. Long
 * work passes {@linkplain Checkpoint checkpoints}. Everything may be called by any thread, and changed while requests run.
 */
public final class Regulator {
    private static final Logger LOGGER = System.getLogger("weir.regulator");

    private final Time time;
    private final Pace pace = new Pace(Runtime.getRuntime().availableProcessors());
    private final Lateness lateness = new Lateness();
    private final WakeProbe probe;
    private final Pauser pauser;
    private final CpuLoad cpu = new CpuLoad();
    private final Entrance entrance;
    private final Map<String, CheckpointState> checkpoints = new ConcurrentSkipListMap<>();
    private final Promises promises;
    /** Settings of those that may go, the last one last. */
    private final List<Settings> lent = new ArrayList<>();
    /** What was held before any of them. */
    private Settings own;
    private final List<WaitListener> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean on;
    private volatile Regime regime;

    /** A regulator that holds these settings. */
    public Regulator(Settings settings, Time time) {
        this.time = time;
        this.pauser = new Pauser(time);
        this.probe = new WakeProbe(time, lateness);
        this.entrance = new Entrance(settings.rules(), time);
        this.promises = new Promises(entrance);
        this.regime = Regime.off(pace, lateness).follow(settings, time.now());
        this.on = settings.isOn();
    }

    /**
     * The one that filters and {@link Checkpoint#of} use. It begins with the system properties that are settings; without any it
     * is off until somebody {@linkplain #apply applies} some.
     */
    public static Regulator shared() {
        return Shared.REGULATOR;
    }

    /** Made when it is first asked for. */
    private static final class Shared {
        static final Regulator REGULATOR = of(System.getProperties());
    }

    /** One that holds those of the properties that are settings. It is off if they make none, as where parameters of a filter are the rest. */
    static Regulator of(Properties properties) {
        Settings settings = null;
        try {
            settings = Settings.ofProperties(properties);
        } catch (SettingsException e) {
            LOGGER.log(
                    Level.WARNING,
                    "the regulator is off: the system properties make no sense by themselves (parameters of a filter may complete them)\n"
                            + e.getMessage());
        }
        return new Regulator(settings == null ? Settings.OFF : settings, Time.ofMachine());
    }

    /**
     * Holds these settings from now on. Requests in flight stay, and so does what has been learnt for each promise, cap and rule of
     * pauses that is as it was. If they are off, those that wait go on, and caps that are found begin anew when they are on again.
     */
    public synchronized void apply(Settings settings) {
        entrance.setRules(settings.rules());
        Regime before = regime;
        Regime next = before.follow(settings, time.now());
        regime = next;
        for (CheckpointState checkpoint : checkpoints.values()) {
            checkpoint.setRules(settings.pauses());
        }
        promises.follow(before, next);
        on = settings.isOn();
    }

    /**
     * Holds these settings from now on, until whoever lends them {@linkplain #takeBack takes them back}: those of an application
     * that may go.
     */
    public synchronized void lend(Settings settings) {
        if (lent.isEmpty()) {
            own = settings();
        }
        lent.add(settings);
        apply(settings);
    }

    /**
     * Settings that were lent are over. If they are held, the last ones that are still lent are held again, else what was before
     * any; what somebody has {@linkplain #apply applied} since stays.
     */
    public synchronized void takeBack(Settings settings) {
        if (!lent.removeIf(of -> of == settings) || settings() != settings) {
            return;
        }
        apply(lent.isEmpty() ? own : lent.get(lent.size() - 1));
    }

    /** Changes one setting, and no other that somebody else changes at the same time; null takes it out. */
    synchronized void set(String name, String value) {
        apply(settings().with(name, value));
    }

    /** What is held. */
    public Settings settings() {
        return regime.settings;
    }

    /** Whether anything is held at all. */
    public boolean isOn() {
        return on;
    }

    /**
     * A request arrives; waits if it has to, at most as long as the settings say. It goes on at once and is counted nowhere while
     * the regulator is off.
     *
     * @param path within the application, without its query
     * @throws InterruptedException if the thread is told to stop while it waits
     */
    public Entry enter(String path) throws InterruptedException {
        Regime under = regime;
        int classIndex = under.settings.classOf(path);
        ClassSettings of = under.settings.classes().get(classIndex);
        if (!under.settings.isOn()) {
            return new Entry(this, under, classIndex, null, new Work(this, false, time.now(), of.deadlineNs));
        }
        readCpu();
        Permit permit = entrance.enter(of.name);
        Work work = null;
        if (permit.state() == Permit.State.GRANTED) {
            if (under.targets.isPromised(classIndex)) {
                probe.seesWorker();
                under.targets.began(classIndex, permit.admitted());
            }
            tell(of.name, permit.waitedNs());
            long deadlineNs = of.deadlineNs;
            work = new Work(this, under.pauses(classIndex), permit.arrived(), permit.admitted(), deadlineNs);
        }
        return new Entry(this, under, classIndex, permit, work);
    }

    void finish(Regime under, int classIndex, Permit permit, Kind kind) {
        entrance.finish(permit, kind);
        readCpu();
        if (under.targets.isPromised(classIndex)) {
            long now = time.now();
            under.targets.answered(classIndex, now - permit.arrived(), kind == Kind.COMPLETED, now);
            promises.tell(under, classIndex);
        }
    }

    /** Work of no class that begins now and is to be over within this time, pauses included. */
    public Work begin(Duration deadline) {
        boolean isEndless = deadline.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0;
        return new Work(this, true, time.now(), isEndless ? Long.MAX_VALUE : deadline.toNanos());
    }

    /** The checkpoint of this name; the same for all that ask for it. */
    public Checkpoint checkpoint(String name) {
        Objects.requireNonNull(name, "name");
        return new Checkpoint(checkpoints.computeIfAbsent(name, of -> new CheckpointState(of, this)));
    }

    /** Tells somebody what each admitted request waits, from now on and for as long as the regulator lasts. */
    public void listen(WaitListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
    }

    /** A listener that fails loses what it was told, and nothing else: the request has its place already, and has to give it back. */
    private void tell(String serviceClass, long waitedNs) {
        for (WaitListener listener : listeners) {
            try {
                listener.waited(serviceClass, waitedNs);
            } catch (RuntimeException e) {
                LOGGER.log(Level.WARNING, "a listener to waits failed: " + e);
            }
        }
    }

    private void readCpu() {
        CpuLoad.Reading read = cpu.read(time.now());
        if (read == null) {
            return;
        }
        if (!Double.isNaN(read.machine)) {
            entrance.readCpu(read.machine);
        }
        Regime under = regime;
        double busy = read.atLeast();
        if (!Double.isNaN(busy)) {
            under.targets.busy(busy);
        }
        if (!under.settings.promiseBy().isByPauses()) {
            for (int index = 0; index < under.settings.classes().size(); index++) {
                promises.tell(under, index);
            }
        }
    }

    /** How a class stands; null if there is none of this name. */
    public ClassSeen seen(String className) {
        return entrance.seen(className);
    }

    /** Requests in flight of all classes. */
    public int inFlight() {
        return entrance.inFlight();
    }

    /** The limit on requests in flight of all classes; infinite without one. */
    public double limit() {
        return entrance.limit();
    }

    /** All that can be read of it, for whoever collects metrics. */
    public List<Metric> metrics() {
        return new Metrics(this).all();
    }

    Time time() {
        return time;
    }

    Pace pace() {
        return pace;
    }

    /** What requests wait before they are seen. */
    Lateness lateness() {
        return lateness;
    }

    WakeProbe probe() {
        return probe;
    }

    Pauser pauser() {
        return pauser;
    }

    Regime regime() {
        return regime;
    }

    /** How promises stand. */
    Promises promises() {
        return promises;
    }

    Map<String, CheckpointState> checkpoints() {
        return checkpoints;
    }
}
