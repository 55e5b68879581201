package io.github.roost.core.dispatch;

import io.github.roost.core.policy.SchedulingPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The order in which a worker whose rings are empty looks at other workers, nearest first: Algorithm 2 of the paper (Huang et
 * al., 2026). First come levels of workers that may be stolen from at any time, then levels of domains behind the cross-domain
 * gate. Immutable.
 */
public final class StealOrder {
    private static final StealOrder NONE = new StealOrder(List.of(), List.of());

    private final List<int[]> workers;
    private final List<int[]> domains;

    private StealOrder(List<int[]> workers, List<int[]> domains) {
        this.workers = workers.stream().filter(level -> level.length > 0).toList();
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
     * The steal order of V1: all other workers as one level, as in bthread.
     *
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return one level without a gate
     */
    public static StealOrder anywhere(WorkerLayout layout, int thief) {
        return new StealOrder(List.of(workers(layout, worker -> worker != thief)), List.of());
    }

    /**
     * The steal order of V2: the thief's shard, the rest of its domain, then the domains of its package, then the other packages.
     *
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return up to two levels without a gate and up to two behind it
     */
    public static StealOrder nearestFirst(WorkerLayout layout, int thief) {
        int shard = layout.shardOf(thief);
        int home = layout.domainOf(thief);
        int homePackage = layout.packageOf(home);
        List<int[]> near = new ArrayList<>();
        near.add(workers(layout, worker -> worker != thief && layout.shardOf(worker) == shard));
        near.add(workers(layout, worker -> layout.domainOf(worker) == home && layout.shardOf(worker) != shard));
        List<int[]> far = new ArrayList<>();
        far.add(domains(layout, domain -> domain != home && layout.packageOf(domain) == homePackage));
        far.add(domains(layout, domain -> layout.packageOf(domain) != homePackage));
        return new StealOrder(near, far);
    }

    private static int[] workers(WorkerLayout layout, IntPredicate wanted) {
        return IntStream.range(0, layout.workers()).filter(wanted).toArray();
    }

    private static int[] domains(WorkerLayout layout, IntPredicate wanted) {
        return IntStream.range(0, layout.domains()).filter(wanted).toArray();
    }

    /** {@return the number of levels of workers that may be stolen from at any time} */
    public int levels() {
        return workers.size();
    }

    /**
     * The size of a level.
     *
     * @param level from 0 to {@link #levels()} exclusive, nearest first
     * @return the number of its victims, at least 1
     */
    public int victims(int level) {
        return workers.get(level).length;
    }

    /**
     * A victim that may be stolen from at any time.
     *
     * @param level from 0 to {@link #levels()} exclusive, nearest first
     * @param index from 0 to {@link #victims(int)} exclusive
     * @return index of a worker
     */
    public int victim(int level, int index) {
        return workers.get(level)[index];
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
        return workers.stream().map(Arrays::toString).toList() + " gate "
                + domains.stream().map(Arrays::toString).toList();
    }
}
