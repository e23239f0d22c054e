package weir.regulator.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Who is admitted, who waits, who is refused.
 *
 * <p>Nothing happens by itself. After every call, {@link #poll} is asked until it has nothing more to say, and again at
 * {@link #nextWake}. Time is what the caller says, in nanoseconds from 0 on; if it goes backwards, it stands still.
 *
 * <p>Each request that arrives is admitted, waits, or is refused; of each that waits, a verdict comes within the longest wait,
 * unless it is abandoned; each that is admitted is finished once. A call costs time in the number of classes, not of requests.
 * Not safe for threads: {@link weir.regulator.Regulator} guards it.
 */
public final class Admission {
    /** A moment that never comes. */
    public static final long NEVER = Long.MAX_VALUE;
    /**
     * The part of the longest wait that is kept for a caller whose timer is late: whoever would wait longer than the rest of it
     * for a slot under a rate is refused at once, rather than after all that wait.
     */
    private static final int LATENESS_PARTS = 16;

    private final ArrayDeque<Permit> verdicts = new ArrayDeque<>();
    private final MeanResponse response = new MeanResponse();
    private final Cap cap;
    /** Never shortened: permits name their index here. */
    private final List<ServiceClass> classes = new ArrayList<>();
    private final Succession succession = new Succession(this);
    /** Of each class of the rules, its index in {@link #classes}. */
    private int[] order = {};
    private long now;
    /** Null without a cap on the rate. */
    private Gcra rate;
    private int maxQueue;
    private int waiting;

    /** With nobody in flight. */
    public Admission(Rules rules, long now) {
        this.now = now;
        this.cap = new Cap(null, now);
        setRules(rules, now);
    }

    /**
     * Holds these rules from now on. What is in flight and what waits stays, in the class of the same name; a class that is no
     * longer named has no caps of its own any more.
     */
    public void setRules(Rules rules, long moment) {
        advance(moment);
        rate = Gcra.replaced(rate, rules.rate, now);
        cap.setRules(rules.concurrency, now);
        maxQueue = rules.maxQueue;
        List<ClassRules> named = rules.classes.isEmpty() ? List.of(ClassRules.none("")) : rules.classes;
        order = named.stream().mapToInt(of -> classNamed(of, rules)).toArray();
        for (ServiceClass of : classes) {
            if (named.stream().noneMatch(other -> other.name.equals(of.name))) {
                of.setRules(ClassRules.none(of.name), rules, now);
            }
        }
        settle();
    }

    /** The index of the class of this name, which is made if it is new. */
    private int classNamed(ClassRules of, Rules rules) {
        for (int index = 0; index < classes.size(); index++) {
            if (classes.get(index).name.equals(of.name)) {
                classes.get(index).setRules(of, rules, now);
                return index;
            }
        }
        classes.add(new ServiceClass(of, rules, now));
        return classes.size() - 1;
    }

    /**
     * A request arrives.
     *
     * @param index of its class in the rules; 0 if they name none
     * @return what is {@link Permit.State#GRANTED}, {@link Permit.State#WAITING} or {@link Permit.State#REFUSED}
     */
    public Permit arrive(int index, long moment) {
        advance(moment);
        ServiceClass of = classes.get(order[index]);
        succession.settle(now);
        of.counts.arrived++;
        Permit permit = new Permit(order[index], now);
        if (isOnTime(now) && cap.hasRoom(now) && of.isOpen(now)) {
            admit(permit);
        } else {
            queue(permit, of);
        }
        succession.note(now);
        return permit;
    }

    /**
     * The client of a request that waits has left: its place is given back; or its slot, if it has been granted one and the
     * verdict has not been fetched. Nothing happens to one that has been told something else than that it waits.
     */
    public void abandon(Permit permit, long moment) {
        advance(moment);
        ServiceClass of = classes.get(permit.classIndex);
        if (permit.state == Permit.State.WAITING) {
            of.counts.abandoned++;
            leave(permit, of);
            permit.state = Permit.State.ABANDONED;
        } else if (verdicts.remove(permit) && permit.state == Permit.State.GRANTED) {
            finish(permit, 0, Kind.ABANDONED, now);
            return;
        }
        settle();
    }

    /**
     * An admitted request is over: its slot is free, and what became of it counts.
     *
     * @param responseNs from admission to the last byte of the response, or to whatever ended it
     * @throws IllegalStateException if it is not in flight
     */
    public void finish(Permit permit, long responseNs, Kind kind, long moment) {
        if (permit.state != Permit.State.GRANTED) {
            throw new IllegalStateException("a permit is given back once, but this one is " + permit.state);
        }
        advance(moment);
        permit.state = Permit.State.FINISHED;
        ServiceClass of = classes.get(permit.classIndex);
        long waitedNs = permit.waitedNs();
        if (kind == Kind.COMPLETED) {
            response.add(responseNs);
        }
        cap.giveBack(now);
        of.finish(new Sample(responseNs, waitedNs, permit.classInFlight, kind), now);
        if (of.promise != null && kind == Kind.COMPLETED) {
            keepPromise(of.promise, waitedNs + responseNs);
        }
        if (kind != Kind.ABANDONED) {
            cap.learn(new Sample(responseNs, waitedNs, permit.inFlight, kind), now);
        }
        settle();
    }

    /** Lets those without a promise feel whether one of a class with a promise was answered in time. */
    private void keepPromise(Kept kept, long afterNs) {
        boolean inTime = kept.answered(afterNs);
        double share = kept.promise().share();
        for (ServiceClass other : classes) {
            if (other.isRest) {
                other.cap.promised(inTime, share, now);
            }
        }
    }

    /** What became of one who waited, the earliest first; null if there is nothing to say. */
    public Permit poll(long moment) {
        if (verdicts.isEmpty()) {
            advance(moment);
            settle();
        }
        return verdicts.poll();
    }

    /** When {@link #poll} is due, if nothing else is called before; {@link #NEVER}: not before the next call. */
    public long nextWake() {
        return verdicts.isEmpty() ? succession.nextWake(now) : now;
    }

    /**
     * The busy share of the server's CPUs since the last reading, from 0 to 1; best every 200 ms, and at least every 3 s. Without
     * any for 3 s, the limit is found from throughput and response times.
     */
    public void readCpu(double busy, long moment) {
        advance(moment);
        if (Double.isNaN(busy) || Double.isInfinite(busy)) {
            return;
        }
        double share = Math.min(Math.max(busy, 0), 1);
        cap.readCpu(share, now);
        for (ServiceClass of : classes) {
            of.cap.readCpu(share, now);
        }
        settle();
    }

    /** The limit on requests in flight; infinite without one. */
    public double limit() {
        return cap.limit();
    }

    /** Requests in flight. */
    public int inFlight() {
        return cap.inFlight();
    }

    /** Requests that wait. */
    public int queued() {
        return waiting;
    }

    /** How a class stands; by its index in the rules. */
    public ClassSeen seen(int index) {
        boolean isRestLeast = classes.stream().allMatch(other -> !other.isRest || other.cap.isLeast());
        return new ClassSeen(classes.get(order[index]), isRestLeast);
    }

    private void advance(long moment) {
        now = Math.max(now, moment);
    }

    private void settle() {
        succession.settle(now);
        succession.note(now);
    }

    /** Whether the rate of all classes together lets one more through. */
    boolean isOnTime(long moment) {
        return rate == null || rate.isOpen(moment);
    }

    Cap cap() {
        return cap;
    }

    Gcra rate() {
        return rate;
    }

    List<ServiceClass> classes() {
        return classes;
    }

    /** Takes all that one needs. */
    private void admit(Permit permit) {
        ServiceClass of = classes.get(permit.classIndex);
        cap.take(now);
        if (rate != null) {
            rate.take(permit.arrived, now);
        }
        of.cap.take(now);
        if (of.rate != null) {
            of.rate.take(permit.arrived, now);
        }
        of.counts.admitted++;
        permit.state = Permit.State.GRANTED;
        permit.admitted = now;
        permit.inFlight = cap.inFlight();
        permit.classInFlight = of.cap.inFlight();
    }

    /** Lets somebody wait, if that makes sense. */
    private void queue(Permit permit, ServiceClass of) {
        long slot = waitForRate(of);
        if (slot > of.maxWaitNs - of.maxWaitNs / LATENESS_PARTS) {
            refuse(permit, of, Why.RATE);
        } else if (of.maxWaitNs == 0) {
            turnAway(of);
            refuse(permit, of, Why.CONCURRENCY);
        } else if (makeRoom(of)) {
            of.line.join(permit);
            waiting++;
        } else {
            turnAway(of);
            refuse(permit, of, Why.QUEUE_FULL);
        }
    }

    /** Lets the cap know that holds this one back, if it is only one. */
    private void turnAway(ServiceClass of) {
        boolean room = cap.hasRoom(now);
        boolean ownRoom = of.cap.hasRoom(now);
        if (!room && ownRoom) {
            cap.turnAway(now);
        } else if (room && !ownRoom) {
            of.cap.turnAway(now);
        }
    }

    /** Whether one more may wait; in a standing queue the oldest makes room. */
    private boolean makeRoom(ServiceClass of) {
        if (of.line.length() < of.maxQueue && waiting < maxQueue) {
            return true;
        }
        if (of.line.isEmpty() || !of.standing.newestFirst()) {
            return false;
        }
        sendAway(of.line.oldest(), of);
        return true;
    }

    /** One who waits goes on. */
    void grant(Permit permit) {
        ServiceClass of = classes.get(permit.classIndex);
        leave(permit, of);
        admit(permit);
        of.counts.waited(permit.waitedNs());
        verdicts.add(permit);
    }

    /** Refuses one who waits. */
    void sendAway(Permit permit, ServiceClass of) {
        leave(permit, of);
        Why why = of.standing.newestFirst() ? Why.EXPIRED : Why.WAIT_TOO_LONG;
        of.standing.expire(now);
        refuse(permit, of, why);
        verdicts.add(permit);
    }

    private void leave(Permit permit, ServiceClass of) {
        of.line.leave(permit);
        waiting--;
    }

    private void refuse(Permit permit, ServiceClass of, Why why) {
        permit.refuse(why, retryAfter(of));
        of.refuse(why);
    }

    /** How long it takes until one would be admitted who came when all who wait now have gone on. */
    private long retryAfter(ServiceClass of) {
        long wait = waitForRate(of);
        if (of.cap.limit() != Double.POSITIVE_INFINITY && !of.cap.hasRoom(now)) {
            wait = Math.max(wait, of.response.waitBehind(of.line.length(), of.cap.limit(), of.maxWaitNs));
        }
        if (cap.limit() != Double.POSITIVE_INFINITY && !cap.hasRoom(now)) {
            wait = Math.max(wait, response.waitBehind(waiting, cap.limit(), of.maxWaitNs));
        }
        return wait;
    }

    /** How long it takes until a slot opens under the rates, behind all that wait and go first. */
    private long waitForRate(ServiceClass of) {
        long own = of.rate == null ? 0 : of.rate.waitBehind(of.line.length(), now);
        if (rate == null) {
            return own;
        }
        int ahead = 0;
        for (ServiceClass other : classes) {
            if (other.priority <= of.priority) {
                ahead += other.line.length();
            }
        }
        return Math.max(own, rate.waitBehind(ahead, now));
    }
}
