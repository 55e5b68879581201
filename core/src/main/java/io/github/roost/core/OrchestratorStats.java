package io.github.roost.core;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.Traffic;
import io.github.roost.core.placement.Mapper;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.pool.WorkerCounters;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.remap.DomainLoads;
import io.github.roost.core.task.Task.Outcome;
import io.github.roost.topology.Pinner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts of an orchestrator since it started, and a snapshot of its state. A fan-out counts one task per part. The
 * names of the components are the keys of the JSON form.
 *
 * @param scheduling the scheduling policy
 * @param epoch epoch of the mapping in force
 * @param remaps mappings published because traffic had shifted
 * @param movedBytes traffic whose home these remaps changed, in bytes of the windows that led to them
 * @param imbalance the largest traffic of a domain divided by the mean, in the last long window; 1 is perfect balance
 * @param tasks tasks by outcome
 * @param broken whether an error that is not of a search's own has broken the orchestrator: it fails all its searches, and accepts no other
 * @param workers one entry per worker, in order of their indices
 * @param domains one entry per cache domain, in order of their ids
 * @param tables one entry per registered table, by traffic descending, then name; at most the requested number
 */
public record OrchestratorStats(
        SchedulingPolicy scheduling,
        long epoch,
        long remaps,
        long movedBytes,
        double imbalance,
        TaskCounts tasks,
        boolean broken,
        List<WorkerStats> workers,
        List<DomainStats> domains,
        List<TableStats> tables) {
    /**
     * A snapshot of the mapping in force, by the names of the tables. The names of its components are the keys of its JSON form.
     *
     * @param epoch the number of the mapping; increases by one per published mapping
     * @param domains number of cache domains
     * @param tables one entry per registered table, sorted by name
     */
    public record MappingStats(long epoch, int domains, List<TableHomes> tables) {
        /**
         * The homes of one table.
         *
         * @param name the table's name
         * @param homes the ids of the home domains of each mapping id of the table; an id with more traffic than a domain's fair share has
         *     several homes
         */
        public record TableHomes(String name, List<List<Integer>> homes) {
            /** Copies the homes. */
            public TableHomes {
                homes = homes.stream().map(List::copyOf).toList();
            }
        }

        /** Copies the tables. */
        public MappingStats {
            tables = List.copyOf(tables);
        }

        static MappingStats of(Mapping mapping, Collection<Registration> registrations) {
            List<TableHomes> tables = registrations.stream()
                    .filter(table -> table.firstSlot() + table.size() <= mapping.slots())
                    .map(table -> new TableHomes(
                            table.name(),
                            IntStream.range(0, table.size())
                                    .mapToObj(index -> homes(mapping, table.firstSlot() + index))
                                    .toList()))
                    .sorted(Comparator.comparing(TableHomes::name))
                    .toList();
            return new MappingStats(mapping.epoch(), mapping.domains(), tables);
        }

        static List<Integer> homes(Mapping mapping, int slot) {
            return Arrays.stream(mapping.homes(slot)).boxed().toList();
        }
    }

    /**
     * Numbers of tasks by outcome. Each accepted task counts in exactly one of the first four.
     *
     * @param completed tasks that returned a result
     * @param failed tasks that threw, or were failed by close
     * @param cancelled tasks whose future was completed by others before they ended
     * @param expired tasks whose deadline passed before they started
     * @param rejected submissions that were not accepted
     * @param intraSteals tasks that ran on another worker of their domain
     * @param crossSteals tasks that ran on a worker of another domain
     */
    public record TaskCounts(
            long completed,
            long failed,
            long cancelled,
            long expired,
            long rejected,
            long intraSteals,
            long crossSteals) {}

    /**
     * Statistics of one worker.
     *
     * @param worker the worker's index
     * @param domain the id of its cache domain
     * @param core the id of its core
     * @param pin the result of pinning it; null for a moment after the start
     * @param waiting tasks in its queues
     * @param completed tasks it completed
     * @param intraSteals tasks it took from other workers of its domain
     * @param crossSteals tasks it took from other domains
     */
    public record WorkerStats(
            int worker,
            int domain,
            int core,
            Pinner.@Nullable Result pin,
            int waiting,
            long completed,
            long intraSteals,
            long crossSteals) {}

    /**
     * Statistics of one cache domain.
     *
     * @param domain the domain's id
     * @param waiting tasks in its workers' queues
     * @param parked searches that are parked here
     * @param maintenance maintenance tasks that wait here for their next step
     * @param trafficBytes bytes touched since the start by searches of the mapping ids that have their home here
     * @param mappingIds mapping ids that have their home here; an id with several homes is counted at each
     * @param timedWaits number of tasks in {@code waitNanos}: all tasks with a deadline, and about one in eight without
     * @param waitNanos total time that these tasks waited before they ran here, in nanoseconds
     * @param timedRuns number of tasks in {@code runNanos}: all, unless most take less than a microsecond; then one in eight or more
     * @param runNanos total time that these tasks ran, in nanoseconds
     */
    public record DomainStats(
            int domain,
            int waiting,
            int parked,
            int maintenance,
            long trafficBytes,
            int mappingIds,
            long timedWaits,
            long waitNanos,
            long timedRuns,
            long runNanos) {}

    /**
     * Statistics of one registered table.
     *
     * @param name the table's name
     * @param clusters number of its mapping ids
     * @param searches searches (for IVF: list scans) since the table was registered
     * @param trafficBytes bytes that these searches touched
     * @param recall measured recall of its searches; null if none has been measured
     */
    public record TableStats(
            String name, int clusters, long searches, long trafficBytes, Registration.@Nullable Recall recall) {}

    /** Copies the lists. */
    public OrchestratorStats {
        workers = List.copyOf(workers);
        domains = List.copyOf(domains);
        tables = List.copyOf(tables);
    }

    static OrchestratorStats of(
            WorkerLayout layout,
            WorkerPool pool,
            Mapper mapper,
            SchedulingPolicy scheduling,
            long rejected,
            int maxTables) {
        Traffic totals = mapper.totals();
        Mapping mapping = mapper.epochs().current().mapping();
        List<WorkerCounters> counts = new ArrayList<>();
        List<WorkerStats> workers = new ArrayList<>();
        for (int worker = 0; worker < layout.workers(); worker++) {
            WorkerCounters count = pool.countsOf(worker);
            counts.add(count);
            workers.add(new WorkerStats(
                    worker,
                    layout.domainOf(worker),
                    layout.coreOf(worker).id(),
                    pool.pinOf(worker),
                    pool.waiting(worker),
                    count.get(Counter.COMPLETED),
                    count.get(Counter.INTRA_STEALS),
                    count.get(Counter.CROSS_STEALS)));
        }
        return new OrchestratorStats(
                scheduling,
                mapping.epoch(),
                mapper.remaps(),
                mapper.movedBytes(),
                mapper.longWindowImbalance(),
                taskCounts(counts, pool, rejected),
                pool.broken() != null,
                workers,
                domains(layout, pool, counts, mapping, mapper.tables(), totals),
                tables(mapper, totals, maxTables));
    }

    private static TaskCounts taskCounts(List<WorkerCounters> counts, WorkerPool pool, long rejected) {
        return new TaskCounts(
                sum(counts, Counter.COMPLETED) + pool.endedElsewhere(Outcome.COMPLETED),
                sum(counts, Counter.FAILED) + pool.endedElsewhere(Outcome.FAILED),
                sum(counts, Counter.CANCELLED) + pool.endedElsewhere(Outcome.CANCELLED),
                sum(counts, Counter.EXPIRED) + pool.endedElsewhere(Outcome.EXPIRED),
                rejected,
                sum(counts, Counter.INTRA_STEALS),
                sum(counts, Counter.CROSS_STEALS));
    }

    private static long sum(List<WorkerCounters> counts, Counter counter) {
        return counts.stream().mapToLong(count -> count.get(counter)).sum();
    }

    private static List<DomainStats> domains(
            WorkerLayout layout,
            WorkerPool pool,
            List<WorkerCounters> counts,
            Mapping mapping,
            List<Registration> registered,
            Traffic totals) {
        long[] bytes = totals.slots() >= mapping.slots()
                ? totals.bytes()
                : totals.plus(Traffic.none(mapping.slots())).bytes();
        double[] loads = DomainLoads.of(mapping, bytes);
        int[] ids = new int[layout.domains()];
        for (Registration table : registered) {
            int end = Math.min(table.firstSlot() + table.size(), mapping.slots());
            for (int slot = table.firstSlot(); slot < end; slot++) {
                for (int i = 0; i < mapping.homeCount(slot); i++) {
                    ids[mapping.home(slot, i)]++;
                }
            }
        }
        List<DomainStats> domains = new ArrayList<>();
        for (int domain = 0; domain < layout.domains(); domain++) {
            int first = layout.workerIn(domain, 0);
            List<WorkerCounters> here = counts.subList(first, first + layout.workersIn(domain));
            domains.add(new DomainStats(
                    domain,
                    pool.waitingIn(domain),
                    pool.parkedIn(domain),
                    pool.maintenanceIn(domain),
                    Math.round(loads[domain]),
                    ids[domain],
                    sum(here, Counter.WAITS_TIMED),
                    sum(here, Counter.WAIT_NANOS),
                    sum(here, Counter.RUNS_TIMED),
                    sum(here, Counter.RUN_NANOS)));
        }
        return domains;
    }

    private static List<TableStats> tables(Mapper mapper, Traffic totals, int max) {
        if (max == 0) {
            return List.of();
        }
        List<TableStats> tables = new ArrayList<>();
        for (Registration table : mapper.tables()) {
            long searches = 0;
            long bytes = 0;
            int end = Math.min(table.firstSlot() + table.size(), totals.slots());
            for (int slot = table.firstSlot(); slot < end; slot++) {
                searches += totals.searches()[slot];
                bytes += totals.bytes()[slot];
            }
            tables.add(new TableStats(table.name(), table.size(), searches, bytes, table.recall()));
        }
        tables.sort(
                Comparator.comparingLong(TableStats::trafficBytes).reversed().thenComparing(TableStats::name));
        return tables.subList(0, Math.min(max, tables.size()));
    }
}
