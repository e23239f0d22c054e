package weir.regulator.limit;

/** Who of those who wait is next, who has waited too long, and when either comes by itself. */
final class Succession {
    private final Admission admission;

    Succession(Admission admission) {
        this.admission = admission;
    }

    /**
     * Lets those go on for whom there is room, and sends those away who have waited too long. Afterwards nobody waits who could
     * go on.
     */
    void settle(long now) {
        if (admission.queued() > 0) {
            // Whoever has waited for exactly as long as allowed may still go on, but then has to go.
            expire(1, now);
            for (Permit next = next(now); next != null; next = next(now)) {
                admission.grant(next);
            }
            expire(0, now);
        }
        observe(now);
    }

    /** Sends those away who have waited for their class's patience and so many nanoseconds more. */
    private void expire(long moreNs, long now) {
        for (ServiceClass of : admission.classes()) {
            for (Permit oldest = of.line.oldest();
                    oldest != null && Seconds.since(oldest.arrived, now) >= of.patienceNs() + moreNs;
                    oldest = of.line.oldest()) {
                admission.sendAway(oldest, of);
            }
        }
    }

    /**
     * The one who goes on next, if there is room, or null: first those of the class with the lowest number, then in order of arrival; of a
     * class whose queue stands, the one who came last.
     */
    private Permit next(long now) {
        if (!(admission.isOnTime(now) && admission.cap().hasRoom(now))) {
            return null;
        }
        Permit next = null;
        int priority = Integer.MAX_VALUE;
        for (ServiceClass of : admission.classes()) {
            Permit head = of.standing.newestFirst() ? of.line.newest() : of.line.oldest();
            if (head == null || !of.isOpen(now)) {
                continue;
            }
            if (next == null || of.priority < priority || (of.priority == priority && head.arrived < next.arrived)) {
                next = head;
                priority = of.priority;
            }
        }
        return next;
    }

    /** Looks at how long the queues have stood. */
    private void observe(long now) {
        boolean onTime = admission.isOnTime(now);
        for (ServiceClass of : admission.classes()) {
            boolean waits = !of.line.isEmpty() && onTime && of.isOnTime(now);
            long age = waits ? Seconds.since(of.line.oldest().arrived, now) : -1;
            of.standing.observe(age, of.maxWaitNs, now);
        }
    }

    /** Tells the limits whether anybody waits whom nothing but they hold back. */
    void note(long now) {
        boolean room = admission.cap().hasRoom(now);
        boolean onTime = admission.isOnTime(now);
        boolean pressed = false;
        for (ServiceClass of : admission.classes()) {
            boolean waits = !of.line.isEmpty() && onTime && of.isOnTime(now);
            boolean ownRoom = of.cap.hasRoom(now);
            of.cap.note(waits && room && !ownRoom, now);
            pressed |= waits && ownRoom && !room;
        }
        admission.cap().note(pressed, now);
    }

    /** When something happens by itself; {@link Admission#NEVER} if nothing does. */
    long nextWake(long now) {
        long wake = Admission.NEVER;
        for (ServiceClass of : admission.classes()) {
            if (of.line.isEmpty()) {
                continue;
            }
            wake = Math.min(wake, Seconds.later(of.line.oldest().arrived, of.patienceNs()));
            wake = Math.min(wake, Math.min(admission.cap().opens(now), of.cap.opens(now)));
            wake = Math.min(wake, Math.min(opens(admission.rate(), now), opens(of.rate, now)));
        }
        return wake;
    }

    /** When the next slot of a rate opens, if it is not open. */
    private static long opens(Gcra rate, long now) {
        return rate == null || rate.isOpen(now) ? Admission.NEVER : rate.due();
    }
}
