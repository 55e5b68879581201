package io.github.roost.simulator;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Runs a workload's traces under a policy on a machine, as a discrete-event simulation. A running task is one event per few items, so that cores of
 * a domain interleave their accesses to its cache. Deterministic: the same arguments give the same result.
 */
public final class Simulation {
    /** Items that a core reads before other cores take their turn: some microseconds. */
    private static final int ITEMS_PER_TURN = 32;

    private static final int ARRIVAL = -1;
    private static final int WATCH = -2;
    /** Added to a worker's index: an event that wakes the worker, ignored if it runs a task. */
    private static final int LOOK = 1 << 20;

    /** A submitter does not sleep if the next search is due sooner. */
    private static final double SHORTEST_SLEEP_NANOS = 5_000;

    private static final double WARM_UP = .2;
    /** The warm-up as a share of the searches, if the mapper has settled before: then the caches take most of it. */
    private static final double WARM_UP_OF_CACHES = .5;
    /** Two long windows. */
    private static final int WINDOWS_TO_SETTLE = 2 * VirtualMapper.SHORT_PER_LONG;

    private static final int SIGNIFICANT_DIGITS = 3;

    private final Traces traces;
    private final SimulatedMachine machine;
    private final Parameters.Tasks tasks;
    private final Policy policy;
    private final long searches;
    private final WindowLength windowLength;
    private final long known;
    private final Sampling sampling;

    /**
     * @param machine the machine and its speeds
     * @param searches number to measure, after the warm-up. The warm-up is half as many if {@code known} is over 0; else a fifth as many, or as many
     *     as the windows have in which the mapper settles, if these are more
     * @param windowLength end of the mapper's windows
     * @param known searches whose traffic the mapper has seen, window by window, before the first search; 0 for none
     * @param sampling fraction of the reads that is simulated
     */
    Simulation(
            Traces traces,
            SimulatedMachine machine,
            Parameters.Tasks tasks,
            Policy policy,
            long searches,
            WindowLength windowLength,
            long known,
            Sampling sampling) {
        this.sampling = sampling;
        this.known = known;
        this.traces = traces;
        this.machine = machine;
        this.tasks = tasks;
        this.policy = policy;
        this.searches = searches;
        this.windowLength = windowLength;
    }

    /** Runs the simulation. */
    SimResult run() {
        boolean onlyLists = traces.tables().stream().allMatch(Traces.Table::hasLists);
        return onlyLists && policy.forkJoin() ? new ForkJoinRun().run() : new PoolRun().run();
    }

    /** The common part of both ways of running: the stream of queries, the keys of the tables' items, and counts. */
    private abstract class Run {
        final WorkloadSpec spec = traces.spec();
        final Traces.Table[] tables = traces.tables().toArray(Traces.Table[]::new);
        final Requests stream = new Requests(traces);
        final SearchCosts costs = new SearchCosts(tasks);
        final Cores cores;
        private final long warmUp = Math.max(
                Math.round(searches * (known > 0 ? WARM_UP_OF_CACHES : WARM_UP)),
                known > 0 ? 0 : WINDOWS_TO_SETTLE * windowLength.searches());
        private final int[] firstKey = new int[tables.length];
        private final int[] keysOfCopy = new int[tables.length];
        /** Sampled nodes of each table's targets; filled in on demand. */
        private final int[][][] sampled = new int[tables.length][][];

        private final int[][] firstKeyOfList = new int[tables.length][];
        final int[] firstSlot = new int[tables.length];
        final int slots;
        private final Histogram all = new Histogram(SIGNIFICANT_DIGITS);
        private final List<Histogram> ofTable = new ArrayList<>();
        private final List<SimResult.Window> windows = new ArrayList<>();
        private long completed;
        private double measuredFrom;
        private long windowBegan;
        private double windowBeganAt;
        private double windowLatency;
        private Memory.Lines windowLines = Memory.Lines.NONE;

        Run() {
            this.cores = new Cores(machine.memory(sampling), machine.machine());
            int keys = 0;
            int slot = 0;
            for (int table = 0; table < tables.length; table++) {
                Traces.Table traced = tables[table];
                sampled[table] = new int[traced.visits().length][];
                firstKey[table] = keys;
                firstKeyOfList[table] = new int[traced.listRows().length];
                int key = keys;
                for (int list = 0; list < traced.listRows().length; list++) {
                    firstKeyOfList[table][list] = key;
                    key += traced.blocks(list);
                }
                keysOfCopy[table] = traced.itemsOfCopy();
                keys = Math.addExact(keys, traced.items());
                firstSlot[table] = slot;
                slot += traced.hasLists() ? traced.slots() : regions(table);
                ofTable.add(new Histogram(SIGNIFICANT_DIGITS));
            }
            this.slots = slot;
        }

        VirtualTask graphSearch(int table, int target, int copy, VirtualQuery query) {
            Traces.Table traced = tables[table];
            int[] visits = traced.visits()[target];
            int[] nodes = sampled[table][target];
            if (nodes == null) {
                nodes = sampling.of(visits);
                sampled[table][target] = nodes;
            }
            int copyKey = firstKey[table] + copy * keysOfCopy[table];
            VirtualTask graphSearch = VirtualTask.graphSearch(
                    region(table, copy), firstKey[table], copyKey, nodes, visits.length, traced.rowBytes(), query);
            costs.ofVisits(graphSearch, traced, visits);
            return graphSearch;
        }

        private int regions(int table) {
            return Math.min(policy.regions(), tables[table].copies());
        }

        /** The mapping id of the region of an HNSW table that a search reads. */
        final int region(int table, int copy) {
            return firstSlot[table] + copy % regions(table);
        }

        /** The mapping id of a list. */
        int slot(int table, int list, int copy) {
            return firstSlot[table] + copy * tables[table].listRows().length + list;
        }

        VirtualTask scan(int table, int list, int copy, List<VirtualQuery> queries) {
            Traces.Table traced = tables[table];
            long bytes = (long) traced.listRows()[list] * traced.rowBytes();
            int firstKeyOfCopy = firstKeyOfList[table][list] + copy * keysOfCopy[table];
            return VirtualTask.scan(slot(table, list, copy), firstKeyOfCopy, bytes, sampling, queries);
        }

        /** Counts a completed search; returns whether it was the last one. */
        final boolean completed(int table, double begun, double now) {
            completed++;
            windowLatency += now - begun;
            if (completed == warmUp) {
                measuredFrom = now;
                cores.resetCounts();
                windowLines = Memory.Lines.NONE;
                resetCounts();
            } else if (completed > warmUp) {
                long nanos = Math.round(now - begun);
                all.recordValue(nanos);
                ofTable.get(table).recordValue(nanos);
            }
            if (windowLength.ended(completed - windowBegan, now - windowBeganAt)) {
                endWindow(now);
            }
            return completed == warmUp + searches;
        }

        private void endWindow(double now) {
            Memory memory = cores.memory();
            double imbalance = endWindow();
            if (completed > warmUp) {
                windows.add(new SimResult.Window(
                        (completed - windowBegan) * 1e9 / Math.max(1, now - windowBeganAt),
                        imbalance,
                        memory.l3MissRatioSince(windowLines),
                        remaps(),
                        windowLatency / (completed - windowBegan) / 1_000));
            }
            windowLatency = 0;
            windowLines = memory.lines();
            windowBegan = completed;
            windowBeganAt = now;
        }

        abstract void resetCounts();

        /** Ends a window of the mapper; returns the max load of a domain over the mean in that window. */
        abstract double endWindow();

        /** Mappings published since the warm-up. */
        abstract long remaps();

        final SimResult result(double now, long intra, long cross, long remaps, long movedBytes) {
            double nanos = now - measuredFrom;
            List<SimResult.Table> tableResults = new ArrayList<>();
            for (int table = 0; table < ofTable.size(); table++) {
                tableResults.add(new SimResult.Table(tables[table].name(), Latencies.ofNanos(ofTable.get(table))));
            }
            return new SimResult(
                    policy.name(),
                    machine.layout().domains(),
                    machine.layout().workers(),
                    searches,
                    nanos / 1e9,
                    Math.min(1, cores.busyNanos() / nanos / machine.layout().workers()),
                    cores.memory().l3MissRatio(),
                    cores.memory().l2HitRatio(),
                    cores.stallShare(),
                    cores.memory().dramBytes() / nanos,
                    intra,
                    cross,
                    remaps,
                    movedBytes / (1024.0 * 1024),
                    Latencies.ofNanos(all),
                    List.copyOf(tableResults),
                    List.copyOf(windows));
        }
    }

    /** Runs tasks in workers' rings. */
    private final class PoolRun extends Run implements VirtualPool.Clock {
        private final EventQueue events = new EventQueue();
        private final VirtualPool pool;
        private final VirtualMapper mapper;
        private final @Nullable VirtualTask[] current;
        /** Due times of the searches that each worker has to submit, because it completed others. */
        private final List<Queue<Double>> due = new ArrayList<>();
        /** Queries that wait for a list, by slot; empty if each is scanned alone. */
        private final @Nullable VirtualBatchQueue[] batchQueues;

        private final int itemsPerTurn = Math.max(1, ITEMS_PER_TURN / sampling.every());
        private double now;
        /** When the pool watches next. */
        private double watchDue;
        /** When the next search of an open loop is due. */
        private double intended;

        private boolean done;

        PoolRun() {
            this.batchQueues = new VirtualBatchQueue[policy.groups() == null ? 0 : slots];
            this.pool = new VirtualPool(
                    machine.layout(),
                    policy.scheduling(),
                    CrossDomainGate.DEFAULT,
                    this,
                    tasks.wakeNanos(),
                    spec.seed());
            this.mapper = new VirtualMapper(
                    slots,
                    machine.layout().domains(),
                    policy.rule(),
                    machine.domainCacheBytes(),
                    policy.scheduling().usesHomes());
            this.current = new VirtualTask[machine.layout().workers()];
            for (int worker = 0; worker < current.length; worker++) {
                due.add(new ArrayDeque<>());
            }
        }

        /** Shows the mapper the traffic of {@code known} searches, in as many windows as it needs to settle. */
        private void settle() {
            Requests before = new Requests(traces.with(spec -> spec.withDrift(0, 0)));
            for (int window = 1; window <= WINDOWS_TO_SETTLE; window++) {
                for (long i = 0; i < known / WINDOWS_TO_SETTLE; i++) {
                    before.next();
                    touch(before.table(), before.target(), before.copy());
                }
                mapper.endWindow();
            }
        }

        private void touch(int table, int target, int copy) {
            if (!tables[table].hasLists()) {
                mapper.touched(0, region(table, copy), tables[table].searchBytes(target));
                return;
            }
            for (int list : tables[table].visits()[target]) {
                long bytes = (long) tables[table].listRows()[list] * tables[table].rowBytes();
                mapper.touched(0, slot(table, list, copy), bytes);
            }
        }

        SimResult run() {
            if (known > 0 && policy.scheduling().usesHomes()) {
                settle();
            }
            if (spec.perSecond() > 0) {
                nextArrival();
            } else {
                for (int i = 0; i < spec.inFlight(); i++) {
                    submit(0);
                }
            }
            while (!done) {
                now = events.time();
                int event = events.take();
                if (event == ARRIVAL) {
                    submit(intended);
                    nextArrival();
                } else if (event == WATCH) {
                    if (now == watchDue) {
                        pool.watch();
                    }
                } else if (event < LOOK) {
                    turn(event);
                } else if (current[event - LOOK] == null) {
                    turn(event - LOOK);
                }
            }
            return result(now, pool.intraSteals(), pool.crossSteals(), mapper.remaps(), mapper.movedBytes());
        }

        /** Schedules the next search of an open loop at its due time, or later if the submitter sleeps until then. */
        private void nextArrival() {
            intended += stream.nanosToNext();
            double late = intended - now > SHORTEST_SLEEP_NANOS ? tasks.lateNanos() : 0;
            events.add(Math.max(now, intended) + late, ARRIVAL);
        }

        /** Submits the next search, which was due at {@code begun}. */
        private void submit(double begun) {
            stream.next();
            int table = stream.table();
            int target = stream.target();
            int copy = stream.copy();
            Traces.Table traced = tables[table];
            int[] visits = traced.visits()[target];
            boolean lists = traced.hasLists();
            VirtualQuery query = new VirtualQuery(table, traced.k(), begun, lists ? visits.length : 1);
            if (!lists) {
                pool.submit(graphSearch(table, target, copy, query), mapper.mapping());
                return;
            }
            boolean workersFree = pool.anyFree();
            for (int list : visits) {
                VirtualBatchQueue queue = batchQueue(slot(table, list, copy));
                if (queue == null || queue.join(query, workersFree)) {
                    pool.submit(scan(table, list, copy, List.of(query)), mapper.mapping());
                }
            }
        }

        private @Nullable VirtualBatchQueue batchQueue(int slot) {
            GroupRule groups = policy.groups();
            if (groups == null) {
                return null;
            }
            VirtualBatchQueue queue = batchQueues[slot];
            if (queue == null) {
                queue = new VirtualBatchQueue(groups);
                batchQueues[slot] = queue;
            }
            return queue;
        }

        private void turn(int worker) {
            VirtualTask task = current[worker];
            if (task != null && task.next == task.items) {
                double nanos = ended(worker, task);
                if (nanos > 0) {
                    events.add(now + cores.compute(nanos), worker);
                    return;
                }
                task = null;
            }
            while (!due.get(worker).isEmpty()) {
                submit(due.get(worker).remove());
            }
            if (task == null && !done) {
                task = pool.next(worker);
                while (task != null && !begin(task)) {
                    task = pool.next(worker);
                }
                current[worker] = task;
                if (task != null) {
                    now += cores.compute(tasks.taskNanos() + task.firstNanos);
                }
            }
            if (task != null) {
                events.add(cores.run(worker, task, itemsPerTurn, now), worker);
            }
        }

        /** Sets the task up; returns whether it has work. It has none if other tasks took all queries. */
        private boolean begin(VirtualTask task) {
            int table = task.queries.getFirst().table;
            Traces.Table traced = tables[table];
            task.began = now;
            if (!traced.hasLists()) {
                return true;
            }
            VirtualBatchQueue queue = batchQueue(task.slot);
            if (queue != null) {
                task.queries = queue.take();
                if (task.queries.isEmpty()) {
                    return false;
                }
            }
            List<NearestSoFar> borrowed = new ArrayList<>(task.queries.size());
            task.queries.forEach(query -> borrowed.add(query.borrow()));
            int list = (task.slot - firstSlot[table]) % traced.listRows().length;
            costs.ofScan(task, traced, traced.listRows()[list], borrowed);
            return true;
        }

        /** Ends a task; returns the compute time for completing its searches. Their followers start after that. */
        private double ended(int worker, VirtualTask task) {
            current[worker] = null;
            mapper.touched(machine.layout().domainOf(worker), task.slot, task.totalBytes);
            pool.ran(worker, Math.round(now - task.began), task.totalBytes);
            VirtualBatchQueue queue = task.collectors.isEmpty() ? null : batchQueue(task.slot);
            if (queue != null) {
                queue.served(now - task.began, task.queries.size());
            }
            double nanos = 0;
            for (int i = 0; i < task.queries.size(); i++) {
                VirtualQuery query = task.queries.get(i);
                boolean lists = tables[query.table].hasLists();
                if (lists) {
                    query.giveBack(task.collectors.get(i), task.heldBefore[i]);
                }
                query.remaining--;
                if (query.remaining == 0) {
                    done |= completed(query.table, query.begun, now);
                    nanos += lists ? costs.ofQuery(tables[query.table], query.held()) : 0;
                    if (spec.perSecond() == 0 && !done) {
                        due.get(worker).add(now);
                    }
                }
            }
            return nanos;
        }

        @Override
        void resetCounts() {
            pool.resetCounts();
            mapper.resetCounts();
        }

        @Override
        double endWindow() {
            return mapper.endWindow();
        }

        @Override
        long remaps() {
            return mapper.remaps();
        }

        @Override
        public double now() {
            return now;
        }

        @Override
        public void wakeAt(double time, int worker) {
            events.add(time, LOOK + worker);
        }

        @Override
        public void watchAt(double time) {
            watchDue = time;
            events.add(time, WATCH);
        }
    }

    /** Runs one query after the other, the lists of each spread over all cores; the next query begins when the last core is done. */
    private final class ForkJoinRun extends Run {
        SimResult run() {
            double now = 0;
            double arrival = 0;
            double[] free = new double[machine.layout().workers()];
            boolean done = false;
            double[] begun = new double[spec.inFlight()];
            for (long number = 0; !done; number++) {
                double began;
                // Drawn before the search, as in the other way of running: both draw from one stream and must see the
                // same searches.
                if (spec.perSecond() > 0) {
                    arrival += stream.nanosToNext();
                    began = arrival;
                } else {
                    // With n searches in flight a query waits for the n - 1 before it.
                    int place = (int) (number % begun.length);
                    began = begun[place];
                }
                stream.next();
                now = now < began ? began + (spec.perSecond() > 0 ? tasks.lateNanos() : 0) : now;
                double end = now + tasks.forkJoinNanos();
                Arrays.fill(free, end);
                Traces.Table traced = tables[stream.table()];
                int copy = stream.copy();
                int[] lists = traced.visits()[stream.target()];
                VirtualQuery query = new VirtualQuery(stream.table(), traced.k(), began, lists.length);
                NearestSoFar[] collectors = new NearestSoFar[free.length];
                for (int list : lists) {
                    int core = earliest(free);
                    if (collectors[core] == null) {
                        collectors[core] = new NearestSoFar(traced.k());
                    }
                    VirtualTask task = scan(stream.table(), list, copy, List.of(query));
                    costs.ofScan(task, traced, traced.listRows()[list], List.of(collectors[core]));
                    double from = free[core] + cores.compute(task.firstNanos);
                    free[core] = cores.run(core, task, task.items, from);
                    end = Math.max(end, free[core]);
                }
                double held = Arrays.stream(collectors)
                        .mapToDouble(collector -> collector == null ? 0 : collector.held())
                        .sum();
                // One thread finds the lists and sorts their results, while the other threads wait.
                now = end + cores.compute(costs.ofQuery(traced, held));
                if (spec.perSecond() == 0) {
                    begun[(int) (number % begun.length)] = now;
                }
                done = completed(stream.table(), began, now);
            }
            return result(now, 0, 0, 0, 0);
        }

        private static int earliest(double[] free) {
            int earliest = 0;
            for (int core = 1; core < free.length; core++) {
                earliest = free[core] < free[earliest] ? core : earliest;
            }
            return earliest;
        }

        @Override
        void resetCounts() {
            // There are no steals and no remaps.
        }

        @Override
        double endWindow() {
            return 1;
        }

        @Override
        long remaps() {
            return 0;
        }
    }
}
