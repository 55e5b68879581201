package io.github.roost.core.dispatch;

import io.github.roost.core.policy.SchedulingPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The order in which a worker whose queues are empty looks at other workers, nearest first: Algorithm 2 of the paper (Huang et
 * al., 2026). First come the workers that may be stolen from at any time, then levels of domains behind the cross-domain gate.
 * Immutable.
 */
public final class StealOrder {
    private static final StealOrder NONE = new StealOrder(new int[0], List.of());

    private final int[] workers;
    private final List<int[]> domains;

    private StealOrder(int[] workers, List<int[]> domains) {
        this.workers = workers;
        this.domains = domains.stream().filter(level -> level.length > 0).toList();
    }

    /**
     * The steal order of a scheduling policy.
     *
     * @param policy determines which workers may run a task without asking the gate
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return the steal order of that worker
     */
    public static StealOrder of(SchedulingPolicy policy, WorkerLayout layout, int thief) {
        return switch (policy.reach()) {
            case WORKER -> none();
            case DOMAIN -> nearestFirst(layout, thief);
            case MACHINE -> anywhere(layout, thief);
        };
    }

    /**
     * The steal order of V0: no stealing.
     *
     * @return an order without victims
     */
    public static StealOrder none() {
        return NONE;
    }

    /**
     * The steal order of V1: all other workers alike, as in bthread.
     *
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return all other workers, without a gate
     */
    public static StealOrder anywhere(WorkerLayout layout, int thief) {
        return new StealOrder(workers(layout, worker -> worker != thief), List.of());
    }

    /**
     * The steal order of V2: the thief's domain, then the domains of its package, then the other packages.
     *
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return the other workers of the domain, and up to two levels behind the gate
     */
    public static StealOrder nearestFirst(WorkerLayout layout, int thief) {
        int home = layout.domainOf(thief);
        int homePackage = layout.packageOf(home);
        int[] near = workers(layout, worker -> worker != thief && layout.domainOf(worker) == home);
        int[] samePackage = domains(layout, domain -> domain != home && layout.packageOf(domain) == homePackage);
        int[] far = domains(layout, domain -> layout.packageOf(domain) != homePackage);
        return new StealOrder(near, List.of(samePackage, far));
    }

    private static int[] workers(WorkerLayout layout, IntPredicate wanted) {
        return IntStream.range(0, layout.workers()).filter(wanted).toArray();
    }

    private static int[] domains(WorkerLayout layout, IntPredicate wanted) {
        return IntStream.range(0, layout.domains()).filter(wanted).toArray();
    }

    /** {@return the number of workers that may be stolen from at any time} */
    public int victims() {
        return workers.length;
    }

    /**
     * A worker that may be stolen from at any time.
     *
     * @param index from 0 to {@link #victims()} exclusive
     * @return index of a worker
     */
    public int victim(int index) {
        return workers[index];
    }

    /** {@return the number of levels of domains behind the cross-domain gate} */
    public int gatedLevels() {
        return domains.size();
    }

    /**
     * The size of a level behind the gate.
     *
     * @param level from 0 to {@link #gatedLevels()} exclusive, nearest first
     * @return the number of its domains, at least 1
     */
    public int gated(int level) {
        return domains.get(level).length;
    }

    /**
     * A domain behind the gate.
     *
     * @param level from 0 to {@link #gatedLevels()} exclusive, nearest first
     * @param index from 0 to {@link #gated(int)} exclusive
     * @return index of a domain
     */
    public int gated(int level, int index) {
        return domains.get(level)[index];
    }

    @Override
    public String toString() {
        return Arrays.toString(workers) + " gate "
                + domains.stream().map(Arrays::toString).toList();
    }
}
