package io.github.roost.core.dispatch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Whose rings a worker looks into when its own is empty, nearest first: Algorithm 2 of the paper. Within a level the
 * caller starts at a random victim and goes round. Immutable.
 */
public final class StealOrder {
    private static final StealOrder NONE = new StealOrder(new int[0], List.of());

    private final int[] sameDomain;
    private final List<int[]> otherDomains;

    private StealOrder(int[] sameDomain, List<int[]> otherDomains) {
        this.sameDomain = sameDomain;
        this.otherDomains = otherDomains;
    }

    /**
     * V0: nobody is stolen from.
     *
     * @return no victims
     */
    public static StealOrder none() {
        return NONE;
    }

    /**
     * V1: every other worker, wherever it is, as one level (bthread's way).
     *
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return one level without a gate
     */
    public static StealOrder anywhere(WorkerLayout layout, int thief) {
        int[] others = IntStream.range(0, layout.workers())
                .filter(worker -> worker != thief)
                .toArray();
        return new StealOrder(others, List.of());
    }

    /**
     * V2: the thief's domain, then domains of its package, then all others.
     *
     * @param layout all workers
     * @param thief index of the worker that steals
     * @return one level without a gate and up to two behind it
     */
    public static StealOrder nearestFirst(WorkerLayout layout, int thief) {
        int home = layout.domainOf(thief);
        int homePackage = layout.packageOf(home);
        int[] same = IntStream.range(0, layout.workersIn(home))
                .map(i -> layout.workerIn(home, i))
                .filter(worker -> worker != thief)
                .toArray();
        int[] near = workersOf(layout, domain -> domain != home && layout.packageOf(domain) == homePackage);
        int[] far = workersOf(layout, domain -> layout.packageOf(domain) != homePackage);
        List<int[]> levels = new ArrayList<>();
        if (near.length > 0) {
            levels.add(near);
        }
        if (far.length > 0) {
            levels.add(far);
        }
        return new StealOrder(same, List.copyOf(levels));
    }

    private static int[] workersOf(WorkerLayout layout, IntPredicate domains) {
        return IntStream.range(0, layout.workers())
                .filter(worker -> domains.test(layout.domainOf(worker)))
                .toArray();
    }

    /**
     * {@return the number of victims that may be stolen from at any time; for V1 these include workers of other
     * domains}
     */
    public int ungated() {
        return sameDomain.length;
    }

    /**
     * A victim that may be stolen from at any time.
     *
     * @param index from 0 to {@link #ungated()} exclusive
     * @return index of a worker
     */
    public int ungated(int index) {
        return sameDomain[index];
    }

    /** {@return the number of levels behind the cross-domain gate} */
    public int gatedLevels() {
        return otherDomains.size();
    }

    /**
     * The size of a level behind the gate.
     *
     * @param level from 0 to {@link #gatedLevels()} exclusive, nearest first
     * @return the number of its victims
     */
    public int gated(int level) {
        return otherDomains.get(level).length;
    }

    /**
     * A victim behind the gate.
     *
     * @param level from 0 to {@link #gatedLevels()} exclusive, nearest first
     * @param index from 0 to {@link #gated(int)} exclusive
     * @return index of a worker
     */
    public int gated(int level, int index) {
        return otherDomains.get(level)[index];
    }

    @Override
    public String toString() {
        return Arrays.toString(sameDomain)
                + otherDomains.stream().map(Arrays::toString).toList();
    }
}
