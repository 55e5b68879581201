package io.github.roost.opensearch;

import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OrchestratorStats.DomainStats;
import io.github.roost.core.OrchestratorStats.MappingStats;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.core.OrchestratorStats.TaskCounts;
import io.github.roost.lucene.GraphBuilds;
import io.github.roost.topology.CacheDomain;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A node's statistics as names and values. Stateless. */
final class NodeReport {
    private NodeReport() {}

    static Map<String, Object> of(RoostNode node) {
        OrchestratorStats stats = node.orchestrator().stats();
        MappingStats mapping = node.orchestrator().mapping();
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("topology", topology(node.machine(), stats));
        report.put("tasks", tasks(stats.tasks()));
        report.put("remaps", stats.remaps());
        report.put("moved_bytes", stats.movedBytes());
        report.put("imbalance", stats.imbalance());
        report.put("domains", stats.domains().stream().map(NodeReport::domain).toList());
        report.put("tables", tables(stats.tables(), mapping.tables()));
        report.put("slices", node.slicesOfIndexes());
        report.put("graph_builds", graphBuilds(node.builds()));
        report.put("stock_graphs", node.segmentsWithStockGraphs());
        report.put("graph_copies_bytes", node.memory().countCopies());
        report.put("attribute_tables", node.tables().report());
        return report;
    }

    private static Map<String, Object> topology(NodeTopology machine, OrchestratorStats stats) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("source", machine.topology().source());
        report.put("level", RoostSettings.name(machine.topology().level()));
        report.put("reason", machine.reason());
        report.put("workers", stats.workers().size());
        report.put("pinned", PrometheusText.pinned(stats.workers()));
        report.put("broken", stats.broken());
        report.put(
                "cores_of_domains",
                machine.topology().domains().stream()
                        .map(CacheDomain::cores)
                        .map(List::size)
                        .toList());
        return report;
    }

    private static Map<String, Object> tasks(TaskCounts tasks) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("completed", tasks.completed());
        report.put("failed", tasks.failed());
        report.put("cancelled", tasks.cancelled());
        report.put("rejected", tasks.rejected());
        report.put("intra_steals", tasks.intraSteals());
        report.put("cross_steals", tasks.crossSteals());
        return report;
    }

    private static Map<String, Object> graphBuilds(GraphBuilds builds) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("by_workers", builds.byWorkers());
        report.put("by_callers", builds.byCallers());
        return report;
    }

    private static Map<String, Object> domain(DomainStats domain) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("domain", domain.domain());
        report.put("waiting", domain.waiting());
        report.put("traffic_bytes", domain.trafficBytes());
        report.put("mapping_ids", domain.mappingIds());
        return report;
    }

    /** One entry per name; all segments of an index are registered under the index's name. */
    private static Map<String, Object> tables(List<TableStats> stats, List<MappingStats.TableHomes> homes) {
        Map<String, List<TableStats>> byName =
                stats.stream().collect(Collectors.groupingBy(TableStats::name, TreeMap::new, Collectors.toList()));
        Map<String, Map<Integer, Long>> homesByName = homes.stream()
                .collect(Collectors.groupingBy(
                        MappingStats.TableHomes::name,
                        Collectors.flatMapping(
                                table -> table.homes().stream().flatMap(List::stream),
                                Collectors.groupingBy(home -> home, TreeMap::new, Collectors.counting()))));
        Map<String, Object> tables = new LinkedHashMap<>();
        byName.forEach((name, entries) -> {
            Map<String, Object> report = new LinkedHashMap<>();
            report.put(
                    "mapping_ids",
                    entries.stream().mapToInt(TableStats::clusters).sum());
            report.put(
                    "searches", entries.stream().mapToLong(TableStats::searches).sum());
            report.put(
                    "traffic_bytes",
                    entries.stream().mapToLong(TableStats::trafficBytes).sum());
            Map<String, Object> idsOfDomains = new LinkedHashMap<>();
            homesByName.getOrDefault(name, Map.of()).forEach((home, ids) -> idsOfDomains.put(home.toString(), ids));
            report.put("homes", idsOfDomains);
            tables.put(name, report);
        });
        return tables;
    }
}
