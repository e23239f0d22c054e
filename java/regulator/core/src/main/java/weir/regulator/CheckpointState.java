package weir.regulator;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;
import weir.regulator.pause.Pace;
import weir.regulator.pause.PauseRules;
import weir.regulator.pause.ProgressJudge;

/** What is known of all the work that passes one checkpoint. */
final class CheckpointState {
    /**
     * On a virtual thread whoever comes first to a class with a promise, after a time without any, is not noticed before those that
     * work have given way: after each so long, which costs a wake-up.
     */
    private static final long UNNOTICED_NS = 5_000_000L;

    private final String name;
    private final Regulator regulator;
    private final HeldMonitors monitors = new HeldMonitors();
    private volatile ProgressJudge judge;
    final LongAdder stretches = new LongAdder();
    final LongAdder pauses = new LongAdder();
    final LongAdder pausedNs = new LongAdder();
    /** Pauses left out because of a lock, and because of a deadline. */
    final LongAdder locked = new LongAdder();
    final LongAdder urgent = new LongAdder();
    /** Verdicts under rules that hold no more. */
    private long poorBefore;
    private long goodBefore;

    CheckpointState(String name, Regulator regulator) {
        this.name = name;
        this.regulator = regulator;
        this.judge = new ProgressJudge(regulator.regime().settings.pauses());
    }

    String name() {
        return name;
    }

    ProgressJudge judge() {
        return judge;
    }

    /** Other rules: what is usual is learnt anew if they differ. */
    synchronized void setRules(PauseRules rules) {
        if (!judge.rules().equals(rules)) {
            poorBefore += judge.poorVerdicts();
            goodBefore += judge.goodVerdicts();
            judge = new ProgressJudge(rules);
        }
    }

    /** Verdicts that progress was poor, under whatever rules. */
    synchronized long poorVerdicts() {
        return poorBefore + judge.poorVerdicts();
    }

    /** Verdicts that progress was good, under whatever rules. */
    synchronized long goodVerdicts() {
        return goodBefore + judge.goodVerdicts();
    }

    boolean isOn() {
        return regulator.isOn();
    }

    Regime regime() {
        return regulator.regime();
    }

    Time time() {
        return regulator.time();
    }

    Stretch stretchOf(Work work) {
        return (work == null ? Work.ofThread(regulator) : work).at(this);
    }

    /** A piece of work has come to a checkpoint for the first time: what it has run for already counts. */
    void begin(Work work, Object[] locks, Regime regime, long now) {
        long ran = work.hasEnd() ? Math.max(0, now - work.began() - work.pausedNs()) : 0;
        takeTurn(work, locks, regime, ran, now);
    }

    /**
     * A stretch is over that took so long, collections of garbage left out; where promises decide, since the last turn.
     *
     * @return whether it may have stood still since
     */
    boolean stretch(Stretch stretch, Object[] locks, Regime regime, long tookNs, long now) {
        stretches.increment();
        if (regime.isPaced) {
            stretch.onCpu.forget();
            takeTurn(stretch.work, locks, regime, tookNs, now);
            return true;
        }
        // A promise may have been there before: its account of the CPU is of no use any more, and costs what asking does.
        stretch.work.watchesCpu(false);
        long pause = stretch.onCpu.judge(judge, stretch.lastSeven, stretch.done, tookNs);
        if (pause > 0) {
            pause(stretch.work, locks, at -> now + pause - at);
        }
        return pause > 0;
    }

    private void takeTurn(Work work, Object[] locks, Regime regime, long ranNs, long now) {
        Pace pace = regulator.pace();
        regime.targets.passed(now);
        boolean isSomebodyHere = regime.targets.isSomebodyHere(now);
        work.watchesCpu(isSomebodyHere);
        if (regime.targets.isLatenessWanted(now)) {
            regulator.probe().want(now);
        }
        try {
            pace.ran(work.turn, work.ranNs(ranNs), now);
            if (pace.leftNs(work.turn, now) > 0) {
                pause(work, locks, at -> {
                    // Whoever stands still finds out, too, that nobody is there any more, or nothing promised, to stand still for.
                    regime().targets.passed(at);
                    return pace.leftNs(work.turn, at);
                });
            } else if (VirtualThreads.isCurrent() && work.owesWay(ranNs, isSomebodyHere ? 0 : UNNOTICED_NS)) {
                giveWay(locks);
            }
        } finally {
            // Also if something is thrown: others would stand behind it for ever.
            pace.goesOn(work.turn, time().now());
        }
    }

    /**
     * Nobody takes a virtual thread off its carrier, so those that wait for it go first now. To yield would not promise that: a
     * carrier may go on with the queue of those that have yielded, while requests that come wait in another.
     */
    private void giveWay(Object[] locks) {
        if (!HeldLocks.isHeld(locks)) {
            time().park(1);
        }
    }

    private void pause(Work work, Object[] locks, LongUnaryOperator left) {
        if (HeldLocks.isHeld(locks) || monitors.isHeld(name)) {
            locked.increment();
            return;
        }
        long began = time().now();
        long until = Math.addExact(began, Math.min(work.mayPauseNs(began), Long.MAX_VALUE / 2));
        if (left.applyAsLong(began) > until - began) {
            urgent.increment();
        }
        long took = regulator.pauser().pause(at -> Math.min(left.applyAsLong(at), until - at));
        if (took > 0) {
            pauses.increment();
            pausedNs.add(took);
            work.paused(took);
        }
    }
}
