package io.github.roost.core;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.DomainLoads;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.Traffic;
import io.github.roost.core.placement.Mapper;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.pool.WorkerTotals;
import io.github.roost.core.task.Registration;
import io.github.roost.topology.PinResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an orchestrator has done since it started, and its state at one moment. A fan-out counts one task per part. Its
 * components and their names are its JSON form.
 *
 * @param scheduling how it schedules
 * @param epoch epoch of the mapping in force
 * @param remaps mappings published because traffic had shifted
 * @param movedBytes traffic whose home those remaps changed, in bytes of their windows
 * @param imbalance largest domain traffic over the mean, in the last long window; 1 is perfect
 * @param tasks tasks by outcome
 * @param restartedWorkers how often a worker was struck by an error that was no task's own, and went on
 * @param workers one entry per worker, in order of their indices
 * @param domains one entry per cache domain, in order of their ids
 * @param tables one entry per registered table, by traffic descending, then name; as many as were asked for
 */
public record OrchestratorStats(
        SchedulingPolicy scheduling,
        long epoch,
        long remaps,
        long movedBytes,
        double imbalance,
        TaskCounts tasks,
        long restartedWorkers,
        List<WorkerStats> workers,
        List<DomainStats> domains,
        List<TableStats> tables) {
    /**
     * Tasks by what became of them. Each accepted task ends in one of the first four.
     *
     * @param completed returned a result
     * @param failed threw, or were failed by close
     * @param cancelled their future was done before they were
     * @param expired their deadline passed before they started
     * @param rejected submissions that were not accepted
     * @param intraSteals ran on another worker of their domain
     * @param crossSteals ran on a worker of another domain
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
     * One worker.
     *
     * @param worker index
     * @param domain its cache domain
     * @param core id of its core
     * @param pin what became of pinning it; absent for a moment after the start
     * @param waiting tasks in its rings
     * @param completed tasks it completed
     * @param intraSteals tasks it took from its domain's other workers
     * @param crossSteals tasks it took from other domains
     */
    public record WorkerStats(
            int worker,
            int domain,
            int core,
            @Nullable PinResult pin,
            int waiting,
            long completed,
            long intraSteals,
            long crossSteals) {}

    /**
     * One cache domain.
     *
     * @param domain id
     * @param waiting tasks in its workers' rings and lists
     * @param parked searches that ran here and wait for bytes
     * @param maintenance work that waits here for its next step
     * @param trafficBytes bytes touched by searches of the mapping ids at home here, since the start
     * @param mappingIds ids at home here, an id of several homes counted at each
     * @param timedWaits tasks that the next sum is over: those with a deadline, and about one in eight of the others
     * @param waitNanos time those tasks waited before they ran here, summed, in nanoseconds
     * @param timedRuns tasks that the next sum is over
     * @param runNanos time those tasks ran, summed, in nanoseconds
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
     * One registered table.
     *
     * @param name its name
     * @param clusters number of its mapping ids
     * @param searches searches (for IVF: list scans) since it was registered
     * @param trafficBytes bytes they touched
     */
    public record TableStats(String name, int clusters, long searches, long trafficBytes) {}

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
            CallerRunner callers,
            long rejected,
            int mostTables) {
        Traffic totals = mapper.totals();
        Mapping mapping = mapper.epochs().current().mapping();
        List<WorkerTotals> counts = new ArrayList<>();
        List<WorkerStats> workers = new ArrayList<>();
        for (int worker = 0; worker < layout.workers(); worker++) {
            WorkerTotals count = pool.totalsOf(worker);
            counts.add(count);
            workers.add(new WorkerStats(
                    worker,
                    layout.domainOf(worker),
                    layout.coreOf(worker).id(),
                    pool.pinOf(worker),
                    pool.waiting(worker),
                    count.completed(),
                    count.intraSteals(),
                    count.crossSteals()));
        }
        return new OrchestratorStats(
                scheduling,
                mapping.epoch(),
                mapper.remaps(),
                mapper.movedBytes(),
                mapper.longWindowImbalance(),
                taskCounts(counts, callers, pool.failedWaitingTasks(), rejected),
                pool.restartedWorkers(),
                workers,
                domains(layout, pool, counts, mapping, mapper.tables(), totals),
                tables(mapper, totals, mostTables));
    }

    private static TaskCounts taskCounts(
            List<WorkerTotals> counts, CallerRunner callers, long failedWaiting, long rejected) {
        return new TaskCounts(
                counts.stream().mapToLong(WorkerTotals::completed).sum() + callers.count(Outcome.COMPLETED),
                counts.stream().mapToLong(WorkerTotals::failed).sum() + callers.count(Outcome.FAILED) + failedWaiting,
                counts.stream().mapToLong(WorkerTotals::cancelled).sum() + callers.count(Outcome.CANCELLED),
                counts.stream().mapToLong(WorkerTotals::expired).sum() + callers.count(Outcome.EXPIRED),
                rejected,
                counts.stream().mapToLong(WorkerTotals::intraSteals).sum(),
                counts.stream().mapToLong(WorkerTotals::crossSteals).sum());
    }

    private static List<DomainStats> domains(
            WorkerLayout layout,
            WorkerPool pool,
            List<WorkerTotals> counts,
            Mapping mapping,
            List<Registration> registered,
            Traffic totals) {
        long[] bytes = totals.slots() >= mapping.slots()
                ? totals.bytes()
                : totals.plus(Traffic.none(mapping.slots())).bytes();
        double[] loads = DomainLoads.of(mapping, bytes);
        int[] ids = new int[layout.domains()];
        for (Registration table : registered) {
            int end = Math.min(table.firstSlot() + table.clusters(), mapping.slots());
            for (int slot = table.firstSlot(); slot < end; slot++) {
                for (int i = 0; i < mapping.homeCount(slot); i++) {
                    ids[mapping.home(slot, i)]++;
                }
            }
        }
        List<DomainStats> domains = new ArrayList<>();
        for (int domain = 0; domain < layout.domains(); domain++) {
            long waits = 0;
            long wait = 0;
            long runs = 0;
            long run = 0;
            for (int i = 0; i < layout.workersIn(domain); i++) {
                WorkerTotals count = counts.get(layout.workerIn(domain, i));
                waits += count.waitsTimed();
                wait += count.waitNanos();
                runs += count.runsTimed();
                run += count.runNanos();
            }
            domains.add(new DomainStats(
                    domain,
                    pool.waitingIn(domain),
                    pool.parkedIn(domain),
                    pool.maintenanceIn(domain),
                    Math.round(loads[domain]),
                    ids[domain],
                    waits,
                    wait,
                    runs,
                    run));
        }
        return domains;
    }

    private static List<TableStats> tables(Mapper mapper, Traffic totals, int most) {
        if (most == 0) {
            return List.of();
        }
        List<TableStats> tables = new ArrayList<>();
        for (Registration table : mapper.tables()) {
            long searches = 0;
            long bytes = 0;
            int end = Math.min(table.firstSlot() + table.clusters(), totals.slots());
            for (int slot = table.firstSlot(); slot < end; slot++) {
                searches += totals.searches()[slot];
                bytes += totals.bytes()[slot];
            }
            tables.add(new TableStats(table.name(), table.clusters(), searches, bytes));
        }
        tables.sort(
                Comparator.comparingLong(TableStats::trafficBytes).reversed().thenComparing(TableStats::name));
        return tables.subList(0, Math.min(most, tables.size()));
    }
}
