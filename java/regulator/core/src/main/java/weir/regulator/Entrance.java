package weir.regulator;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import weir.regulator.limit.Admission;
import weir.regulator.limit.ClassRules;
import weir.regulator.limit.ClassSeen;
import weir.regulator.limit.Kind;
import weir.regulator.limit.Permit;
import weir.regulator.limit.Rules;

/**
 * An {@link Admission} at which threads wait.
 *
 * <p>No thread of its own keeps the time: one of those that wait, the leader, sleeps until the admission wants to be woken, the
 * others until they are told. Whoever changes something tells those whom it concerns.
 */
final class Entrance {
    private final Time time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Admission admission;
    private final Map<String, Integer> indices = new HashMap<>();
    private final Set<Thread> waiting = new LinkedHashSet<>();
    /** The one that keeps the time, or null, and until when it sleeps. */
    private Thread leader;
    private long leaderWakes;

    Entrance(Rules rules, Time time) {
        this.time = time;
        name(rules);
        this.admission = new Admission(rules, time.now());
    }

    void setRules(Rules rules) {
        change(now -> {
            name(rules);
            admission.setRules(rules, now);
        });
    }

    private void name(Rules rules) {
        indices.clear();
        for (ClassRules of : rules.classes) {
            indices.put(of.name, indices.size());
        }
    }

    /** The index of a class; if its name has just been taken out of the rules, of the one for all others, which is the last. */
    private int index(String className) {
        return indices.getOrDefault(className, indices.size() - 1);
    }

    void readCpu(double busy) {
        change(now -> admission.readCpu(busy, now));
    }

    /** Gives a slot back. */
    void finish(Permit permit, Kind kind) {
        change(now -> admission.finish(permit, Math.max(0, now - permit.admitted()), kind, now));
    }

    /**
     * A request of this class arrives; waits if it has to, at most as long as the rules say.
     *
     * @return what is granted or refused
     * @throws InterruptedException if the thread is told to stop while it waits; then the request has left
     */
    Permit enter(String className) throws InterruptedException {
        lock.lock();
        try {
            Permit permit = admission.arrive(index(className), time.now());
            tell();
            if (permit.state() == Permit.State.WAITING) {
                await(permit);
            }
            return permit;
        } finally {
            lock.unlock();
        }
    }

    private void await(Permit permit) throws InterruptedException {
        Thread self = Thread.currentThread();
        permit.setHolder(self);
        waiting.add(self);
        try {
            while (permit.state() == Permit.State.WAITING) {
                sleep(self);
                if (Thread.interrupted()) {
                    leave(permit);
                    throw new InterruptedException();
                }
                tell();
            }
        } finally {
            waiting.remove(self);
            if (leader == null && !waiting.isEmpty()) {
                // Somebody else keeps the time from now on.
                unpark(waiting.iterator().next());
            }
        }
    }

    /** Sleeps without the lock: the leader until the admission is due, the others until they are woken. */
    private void sleep(Thread self) {
        long wake = admission.nextWake();
        boolean leads = leader == null;
        if (leads) {
            leader = self;
            leaderWakes = wake;
        }
        lock.unlock();
        try {
            time.park(leads ? Math.max(1, wake - time.now()) : Long.MAX_VALUE);
        } finally {
            lock.lock();
            if (leads) {
                leader = null;
            }
        }
    }

    private void leave(Permit permit) {
        long now = time.now();
        if (permit.state() == Permit.State.GRANTED) {
            admission.finish(permit, 0, Kind.ABANDONED, now);
        } else {
            admission.abandon(permit, now);
        }
        tell();
    }

    private interface Change {
        void at(long now);
    }

    private void change(Change change) {
        lock.lock();
        try {
            change.at(time.now());
            tell();
        } finally {
            lock.unlock();
        }
    }

    /** Wakes those of whom something has become, and the leader if it would sleep for too long. */
    private void tell() {
        long now = time.now();
        for (Permit told = admission.poll(now); told != null; told = admission.poll(now)) {
            unpark((Thread) told.holder());
        }
        if (leader != null && admission.nextWake() < leaderWakes) {
            unpark(leader);
        }
    }

    private static void unpark(Thread thread) {
        if (thread != Thread.currentThread()) {
            LockSupport.unpark(thread);
        }
    }

    double limit() {
        return read(admission::limit);
    }

    int inFlight() {
        return read(admission::inFlight);
    }

    /** How a class stands; null if there is none of this name. */
    ClassSeen seen(String className) {
        return read(() -> indices.containsKey(className) ? admission.seen(index(className)) : null);
    }

    private <T> T read(Supplier<T> what) {
        lock.lock();
        try {
            return what.get();
        } finally {
            lock.unlock();
        }
    }
}
