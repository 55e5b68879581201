package io.github.roost.core.dispatch;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.List;

/**
 * The assignment of workers to cores and cache domains: one worker per core, numbered domain by domain. Immutable.
 */
public final class WorkerLayout {
    private final List<Core> cores;
    private final int[] domainOf;
    private final int[][] workersOf;
    private final int[] packageOf;

    private WorkerLayout(List<Core> cores, int[] domainOf, int[][] workersOf, int[] packageOf) {
        this.cores = cores;
        this.domainOf = domainOf;
        this.workersOf = workersOf;
        this.packageOf = packageOf;
    }

    /**
     * A layout with one worker per usable core of a topology.
     *
     * @param topology the machine
     * @return the layout, with workers numbered domain by domain
     */
    public static WorkerLayout of(Topology topology) {
        List<CacheDomain> domains = topology.domains();
        List<Core> cores = new ArrayList<>();
        int[][] workersOf = new int[domains.size()][];
        int[] packageOf = new int[domains.size()];
        for (int domain = 0; domain < domains.size(); domain++) {
            List<Core> domainCores = domains.get(domain).cores();
            workersOf[domain] = new int[domainCores.size()];
            packageOf[domain] = domains.get(domain).packageId();
            for (int i = 0; i < domainCores.size(); i++) {
                workersOf[domain][i] = cores.size();
                cores.add(domainCores.get(i));
            }
        }
        int[] domainOf = new int[cores.size()];
        for (int domain = 0; domain < workersOf.length; domain++) {
            for (int worker : workersOf[domain]) {
                domainOf[worker] = domain;
            }
        }
        return new WorkerLayout(List.copyOf(cores), domainOf, workersOf, packageOf);
    }

    /** {@return the number of workers} */
    public int workers() {
        return domainOf.length;
    }

    /** {@return the number of cache domains} */
    public int domains() {
        return workersOf.length;
    }

    /** {@return the largest OS number of a PU of any worker, plus 1} */
    public int cpus() {
        return 1
                + cores.stream()
                        .flatMap(core -> core.pus().stream())
                        .mapToInt(Integer::intValue)
                        .max()
                        .orElse(-1);
    }

    /**
     * The core that a worker is pinned to.
     *
     * @param worker from 0 to {@link #workers()} exclusive
     * @return the core
     */
    public Core coreOf(int worker) {
        return cores.get(worker);
    }

    /**
     * The cache domain of a worker.
     *
     * @param worker from 0 to {@link #workers()} exclusive
     * @return index of the domain
     */
    public int domainOf(int worker) {
        return domainOf[worker];
    }

    /**
     * The package (socket) of a cache domain.
     *
     * @param domain from 0 to {@link #domains()} exclusive
     * @return index of the package
     */
    public int packageOf(int domain) {
        return packageOf[domain];
    }

    /**
     * The size of a domain.
     *
     * @param domain from 0 to {@link #domains()} exclusive
     * @return the number of its workers
     */
    public int workersIn(int domain) {
        return workersOf[domain].length;
    }

    /**
     * A worker of a domain.
     *
     * @param domain from 0 to {@link #domains()} exclusive
     * @param index from 0 to {@link #workersIn(int)} exclusive
     * @return index of the worker
     */
    public int workerIn(int domain, int index) {
        return workersOf[domain][index];
    }
}
