package io.github.roost.examples.demo;

import java.util.List;
import java.util.Map;

/**
 * All that the demo found and measured; printed as text piece by piece, or as one JSON object. Immutable.
 *
 * @param machine where the workers sit
 * @param build what was built
 * @param answers phrases answered
 * @param workload what the workload measured
 * @param placement where the tables were and are at home
 * @param steals tasks run away from the worker that they were given to
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
     * @param source where its topology was read from
     * @param level what its cache domains are
     * @param bindable whether workers could be pinned at all
     * @param domains its cache domains
     * @param workers where each worker sits
     */
    public record Machine(
            String source, String level, boolean bindable, List<Domain> domains, List<WorkerPosition> workers) {}

    /**
     * One cache domain.
     *
     * @param domain id
     * @param cacheBytes size of the cache that its cores share, 0 where unknown
     * @param packageId its package
     * @param numaNodes its NUMA nodes
     * @param cores number of its cores
     */
    public record Domain(int domain, long cacheBytes, int packageId, List<Integer> numaNodes, int cores) {}

    /**
     * What was built.
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
     * @param phrase what was asked
     * @param hnsw from all HNSW tables, merged
     * @param ivf from the IVF table
     */
    public record Answer(String phrase, List<Hit> hnsw, List<Hit> ivf) {}

    /** One package found, with its squared distance. */
    public record Hit(String name, String section, String synopsis, double distance) {}

    /**
     * The workload.
     *
     * @param zipfExponent how skewed it was
     * @param k neighbours a query
     * @param inFlight queries under way at a time
     * @param hnsw queries that each asked one section's HNSW table
     * @param hnswMerged queries that each asked every HNSW table, the answers merged
     * @param ivf queries that asked the IVF table of all packages
     * @param traffic bytes touched, a table each, most first
     */
    public record Workload(
            double zipfExponent,
            int k,
            int inFlight,
            Measured hnsw,
            Measured hnswMerged,
            Measured ivf,
            List<TableTraffic> traffic) {}

    /**
     * One kind of search, measured in a closed loop.
     *
     * @param recall recall@k against exact search, by distance
     * @param queries queries answered
     * @param seconds in this time
     * @param qps queries per second
     * @param p50us median latency in microseconds
     * @param p99us 99th percentile
     * @param p999us 99.9th percentile
     */
    public record Measured(
            double recall, long queries, double seconds, double qps, double p50us, double p99us, double p999us) {}

    /** Searches of one table (for IVF: list scans) and the bytes they touched. */
    public record TableTraffic(String table, long searches, long bytes) {}

    /**
     * Where tables are at home.
     *
     * @param windowMillis length of the short window
     * @param remaps mappings published because traffic had shifted
     * @param before when the workload started
     * @param after when it ended
     */
    public record Placement(long windowMillis, long remaps, Homes before, Homes after) {}

    /**
     * One mapping.
     *
     * @param epoch its number
     * @param tables the home domains of each HNSW table
     * @param ivfListsPerDomain how many of the IVF table's lists are at home in each domain
     */
    public record Homes(long epoch, Map<String, List<Integer>> tables, List<Integer> ivfListsPerDomain) {}

    /**
     * Tasks that ran away from the worker they were given to.
     *
     * @param tasks tasks completed
     * @param intra on another worker of their domain
     * @param cross on a worker of another domain
     */
    public record Steals(long tasks, long intra, long cross) {}

    DemoReport withWorkersJoined(boolean joined) {
        return new DemoReport(machine, build, answers, workload, placement, steals, joined);
    }
}
