package io.github.roost.cli.demo;

import java.util.List;
import java.util.Map;

/**
 * The results of the demo; printed as text piece by piece, or as one JSON object. Immutable.
 *
 * @param machine the topology and the workers' positions
 * @param build the tables that were built
 * @param answers the answered phrases
 * @param workload the measurements of the workload
 * @param placement the tables' homes before and after
 * @param steals tasks that ran on another worker than the one they were given to
 * @param workersJoined whether every worker had ended when the orchestrator was closed
 */
public record DemoReport(
        Machine machine,
        Build build,
        List<Answer> answers,
        Workload workload,
        Placement placement,
        Steals steals,
        boolean workersJoined) {
    /**
     * The machine.
     *
     * @param source source of the topology
     * @param level level of the cache domains
     * @param bindable whether workers could be pinned
     * @param domains its cache domains
     * @param workers the position of each worker
     */
    public record Machine(
            String source, String level, boolean bindable, List<Domain> domains, List<WorkerPosition> workers) {}

    /**
     * One cache domain.
     *
     * @param domain id
     * @param cacheBytes size of the shared cache, 0 if unknown
     * @param packageId id of its package
     * @param numaNodes ids of its NUMA nodes
     * @param cores number of its cores
     */
    public record Domain(int domain, long cacheBytes, int packageId, List<Integer> numaNodes, int cores) {}

    /**
     * The data set and the tables.
     *
     * @param packages number of packages
     * @param dimension of their vectors
     * @param loadSeconds time to read the data set
     * @param hnswTables number of HNSW tables, one per section
     * @param hnswSeconds time to build them
     * @param ivfLists number of lists of the IVF table
     * @param ivfSeconds time to build it
     */
    public record Build(
            int packages,
            int dimension,
            double loadSeconds,
            int hnswTables,
            double hnswSeconds,
            int ivfLists,
            double ivfSeconds) {}

    /**
     * The answer to one phrase.
     *
     * @param phrase the query
     * @param hnsw hits from all HNSW tables, merged
     * @param ivf hits from the IVF table
     */
    public record Answer(String phrase, List<Hit> hnsw, List<Hit> ivf) {}

    /** One hit, with its squared distance. */
    public record Hit(String name, String section, String synopsis, double distance) {}

    /**
     * The measurements of the workload.
     *
     * @param zipfExponent exponent of the table popularity
     * @param k neighbors per query
     * @param inFlight queries in flight at a time
     * @param hnsw queries to one section's HNSW table each
     * @param ivf queries to the IVF table of all packages
     * @param traffic bytes read per table, highest first
     */
    public record Workload(
            double zipfExponent, int k, int inFlight, Measured hnsw, Measured ivf, List<TableTraffic> traffic) {}

    /**
     * One kind of search, measured in a closed loop.
     *
     * @param recall recall@k against exact search, by distance; among all packages of a sample of the queries
     * @param queries number of queries answered
     * @param seconds duration
     * @param qps queries per second
     * @param p50us median latency in microseconds
     * @param p99us 99th percentile in microseconds
     * @param p999us 99.9th percentile in microseconds
     */
    public record Measured(
            double recall, long queries, double seconds, double qps, double p50us, double p99us, double p999us) {}

    /** The number of searches of one table (for IVF: list scans) and the bytes they touched. */
    public record TableTraffic(String table, long searches, long bytes) {}

    /**
     * The homes of the tables.
     *
     * @param windowMillis length of the short window
     * @param remaps number of remaps because of changed traffic
     * @param before homes when the workload started
     * @param after homes when it ended
     */
    public record Placement(long windowMillis, long remaps, Homes before, Homes after) {}

    /**
     * One mapping.
     *
     * @param epoch its number
     * @param tables the home domains of each HNSW table
     * @param ivfListsPerDomain number of the IVF table's lists at home in each domain
     */
    public record Homes(long epoch, Map<String, List<Integer>> tables, List<Integer> ivfListsPerDomain) {}

    /**
     * The numbers of tasks that ran on another worker than the one they were given to.
     *
     * @param tasks completed tasks
     * @param intra tasks run by another worker of their domain
     * @param cross tasks run by a worker of another domain
     */
    public record Steals(long tasks, long intra, long cross) {}

    DemoReport withWorkersJoined(boolean joined) {
        return new DemoReport(machine, build, answers, workload, placement, steals, joined);
    }
}
