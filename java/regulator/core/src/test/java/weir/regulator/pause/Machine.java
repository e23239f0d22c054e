package weir.regulator.pause;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.DoubleConsumer;

/**
 * A machine on which light requests and heavy work share the CPUs, simulated event by event: egalitarian processor sharing, as a
 * fair scheduler does over longer times than a time slice.
 */
final class Machine {
    private static final long MS = 1_000_000;
    private static final double LOOK_NS = 200.0 * MS;
    private static final double NEVER = Double.POSITIVE_INFINITY;

    /** Light requests: at a constant rate, or so many clients that each send the next one at once. */
    int cpus = 1;
    double lightPerS;
    int lightClients;
    long lightNs = 400_000;
    int heavies;
    long stretchNs = 500_000;
    /** What heavy work does after a stretch. */
    Pauses pauses = sleeping(0);
    /** Who hears of light requests that end, after so long. */
    Answered answered = (afterNs, now) -> {};
    Runnable began = () -> {};
    /** Who hears what part of the CPUs was in use, every fifth of a second. */
    DoubleConsumer busy = part -> {};
    /** Its speed drifts over about a second, by this part as a standard deviation. */
    double drift;
    long warmUpNs = 10_000 * MS;
    long endNs = 40_000 * MS;
    int seed = 5;

    interface Pauses {
        /** Somebody ran for so long. */
        void ran(Turn turn, long ranNs, long now);

        /** How long he stands still, to be asked again after a part of it. */
        long leftNs(Turn turn, long now);

        /** He goes on. */
        void goesOn(Turn turn, long now);
    }

    /** The same pause after each stretch, as somebody would set it by hand. */
    static Pauses sleeping(long sleepNs) {
        Map<Turn, Long> wakes = new IdentityHashMap<>();
        return new Pauses() {
            @Override
            public void ran(Turn turn, long ranNs, long now) {
                wakes.put(turn, now + sleepNs);
            }

            @Override
            public long leftNs(Turn turn, long now) {
                return wakes.get(turn) - now;
            }

            @Override
            public void goesOn(Turn turn, long now) {
                wakes.remove(turn);
            }
        };
    }

    /** As the regulator does. */
    static Pauses regulated(Targets targets, Pace pace) {
        return new Pauses() {
            @Override
            public void ran(Turn turn, long ranNs, long now) {
                targets.passed(now);
                pace.ran(turn, ranNs, now);
            }

            @Override
            public long leftNs(Turn turn, long now) {
                return pace.leftNs(turn, now);
            }

            @Override
            public void goesOn(Turn turn, long now) {
                pace.goesOn(turn, now);
            }
        };
    }

    interface Answered {
        void hear(long afterNs, long now);
    }

    /** What came of it after the warm-up. */
    final List<Long> responsesNs = new ArrayList<>();
    int stretches;

    private static final class Job {
        final boolean light;
        double leftNs;
        double sinceNs;
        double wakesNs = NEVER;
        final Turn turn = new Turn();

        Job(boolean light) {
            this.light = light;
        }
    }

    private final List<Job> running = new ArrayList<>();
    private final List<Job> sleeping = new ArrayList<>();
    private SplittableRandom random;
    private double usedNs;

    Machine run() {
        random = new SplittableRandom(seed);
        for (int heavy = 0; heavy < heavies; heavy++) {
            start(new Job(false), 0);
        }
        for (int client = 0; client < lightClients; client++) {
            start(new Job(true), 0);
        }
        double now = 0;
        double arrival = lightPerS > 0 ? gap() : NEVER;
        Drift clock = new Drift(drift, seed);
        double look = LOOK_NS;
        while (now < endNs) {
            double speed = clock.speed * Math.min(1, (double) cpus / Math.max(running.size(), 1));
            Job first = least(running, true);
            Job riser = least(sleeping, false);
            double ends = first == null ? NEVER : now + Math.max(first.leftNs, 0) / speed;
            double wakes = riser == null ? NEVER : riser.wakesNs;
            double next = Math.min(Math.min(Math.min(ends, wakes), arrival), look);
            usedNs += (next - now) * Math.min(running.size(), cpus);
            for (Job job : running) {
                job.leftNs -= (next - now) * speed;
            }
            now = next;
            if (next == look) {
                look += LOOK_NS;
                clock.advance();
                busy.accept(usedNs / (LOOK_NS * cpus));
                usedNs = 0;
            } else if (next == arrival) {
                start(new Job(true), now);
                arrival = now + gap();
            } else if (next == wakes) {
                sleeping.remove(riser);
                goOn(riser, now);
            } else {
                running.remove(first);
                end(first, now);
            }
        }
        return this;
    }

    /** A first-order autoregressive process. */
    private static final class Drift {
        private static final double KEEPS = 0.8;
        private final double deviation;
        private final Random random;
        double speed = 1;

        Drift(double deviation, int seed) {
            this.deviation = deviation;
            this.random = new Random(seed);
        }

        void advance() {
            double news = deviation * Math.sqrt(1 - KEEPS * KEEPS) * random.nextGaussian();
            speed = Math.max(0.5, 1 + KEEPS * (speed - 1) + news);
        }
    }

    private double gap() {
        return -Math.log(1 - random.nextDouble()) * 1e9 / lightPerS;
    }

    private void start(Job job, double now) {
        if (job.light) {
            began.run();
        }
        // Services vary by a tenth both ways.
        job.leftNs = (job.light ? lightNs : stretchNs) * (0.9 + 0.2 * random.nextDouble());
        job.sinceNs = now;
        running.add(job);
    }

    private void end(Job job, double now) {
        long took = (long) (now - job.sinceNs);
        boolean counts = now >= warmUpNs;
        if (job.light) {
            if (counts) {
                responsesNs.add(took);
            }
            answered.hear(took, (long) now);
            if (lightClients > 0) {
                start(job, now);
            }
            return;
        }
        stretches += counts ? 1 : 0;
        pauses.ran(job.turn, took, (long) now);
        goOn(job, now);
    }

    /** Heavy work goes on, or sleeps for another part of its pause. */
    private void goOn(Job job, double now) {
        long leftNs = pauses.leftNs(job.turn, (long) now);
        if (leftNs > 0) {
            job.wakesNs = now + Pace.partNs(leftNs);
            sleeping.add(job);
        } else {
            pauses.goesOn(job.turn, (long) now);
            start(job, now);
        }
    }

    private static Job least(List<Job> jobs, boolean byLeft) {
        Job least = null;
        for (Job job : jobs) {
            if (least == null || (byLeft ? job.leftNs < least.leftNs : job.wakesNs < least.wakesNs)) {
                least = job;
            }
        }
        return least;
    }

    /** The response time within which 99 % of the light requests were answered, in milliseconds. */
    double p99Ms() {
        long[] sorted = responsesNs.stream().mapToLong(Long::longValue).sorted().toArray();
        return sorted[(int) (sorted.length * 0.99)] / 1e6;
    }

    double lightsPerS() {
        return responsesNs.size() * 1e9 / (endNs - warmUpNs);
    }

    double heavyPerS() {
        return stretches * 1e9 / (endNs - warmUpNs);
    }

    @Override
    public String toString() {
        return String.format(
                "light %.1f/s, p99 %.2f ms; heavy %.1f stretches/s (%s)",
                lightsPerS(), responsesNs.isEmpty() ? 0 : p99Ms(), heavyPerS(), Arrays.asList(cpus, heavies));
    }
}
