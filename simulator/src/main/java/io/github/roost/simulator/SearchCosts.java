package io.github.roost.simulator;

import java.util.List;

/** Sets the compute costs of tasks, without waits for memory. Stateless. */
final class SearchCosts {
    private final Parameters.Tasks tasks;

    SearchCosts(Parameters.Tasks tasks) {
        this.tasks = tasks;
    }

    /** Sets the cost of a task that visits nodes of a graph. */
    void ofVisits(VirtualTask task, Traces.Table table, int[] visited) {
        boolean whole = Traces.Table.isWhole(visited);
        Parameters.Visits cost = whole ? tasks.hnswExact() : tasks.hnsw();
        NearestSoFar found = new NearestSoFar(table.width());
        double replaced = found.look(visited.length, 0);
        task.itemNanos = cost.itemNanos() + lines(table) * cost.lineNanos();
        task.firstNanos = cost.searchNanos() + found.held() * cost.resultNanos() + replaced * cost.replacedNanos();
        task.inFlight = cost.linesInFlight();
    }

    /**
     * Sets the cost of a task that scans a list, and passes the rows to its queries' collectors.
     *
     * @param collectors one per query of the task
     */
    void ofScan(VirtualTask task, Traces.Table table, int rows, List<NearestSoFar> collectors) {
        Parameters.Scans cost = tasks.ivf();
        int group = task.queries.size();
        double rowsPerBlock = (double) Traces.BLOCK_BYTES / table.rowBytes();
        task.collectors = collectors;
        task.heldBefore = new double[group];
        task.firstNanos = 0;
        for (int i = 0; i < group; i++) {
            NearestSoFar collector = collectors.get(i);
            task.heldBefore[i] = collector.held();
            double replaced = collector.look(rows, task.queries.get(i).bestSeen());
            task.firstNanos += cost.pairNanos()
                    + replaced * cost.replacedNanos()
                    + (task.heldBefore[i] + collector.held()) * cost.heldNanos();
        }
        task.itemNanos = group * rowsPerBlock * cost.rowNanos(lines(table), group);
        task.inFlight = cost.linesInFlight();
    }

    private static double lines(Traces.Table table) {
        return (double) table.rowBytes() / Memory.LINE_BYTES;
    }

    /**
     * The compute cost of an IVF search beyond its tasks: finding the lists, and sorting their results.
     *
     * @param held rows in all its collectors
     */
    double ofQuery(Traces.Table table, double held) {
        Parameters.Scans cost = tasks.ivf();
        return cost.searchNanos() + held * cost.resultNanos() + table.slots() * cost.rowNanos(lines(table), 1);
    }
}
