package io.github.roost.opensearch;

import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OrchestratorStats.DomainStats;
import io.github.roost.core.OrchestratorStats.TaskCounts;
import io.github.roost.core.OrchestratorStats.WorkerStats;
import java.util.List;

/**
 * A node's statistics in Prometheus' text format (version 0.0.4), with the metric names of {@code RoostMetrics}. Stateless.
 */
final class PrometheusText {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private PrometheusText() {}

    static String of(OrchestratorStats stats) {
        StringBuilder text = new StringBuilder();
        TaskCounts tasks = stats.tasks();
        family(text, "roost_tasks_total", "counter", "tasks by outcome");
        sample(text, "roost_tasks_total", "{outcome=\"completed\"}", tasks.completed());
        sample(text, "roost_tasks_total", "{outcome=\"failed\"}", tasks.failed());
        sample(text, "roost_tasks_total", "{outcome=\"cancelled\"}", tasks.cancelled());
        sample(text, "roost_tasks_total", "{outcome=\"rejected\"}", tasks.rejected());
        family(text, "roost_steals_total", "counter", "tasks run by another worker");
        sample(text, "roost_steals_total", "{kind=\"intra\"}", tasks.intraSteals());
        sample(text, "roost_steals_total", "{kind=\"cross\"}", tasks.crossSteals());
        List<DomainStats> domains = stats.domains();
        family(text, "roost_queue_depth", "gauge", "tasks that wait, by domain");
        domains.forEach(domain -> sample(text, "roost_queue_depth", label(domain), domain.waiting()));
        family(text, "roost_traffic_bytes_total", "counter", "bytes that searches at home in the domain touched");
        domains.forEach(domain -> sample(text, "roost_traffic_bytes_total", label(domain), domain.trafficBytes()));
        family(text, "roost_imbalance", "gauge", "largest domain traffic over the mean");
        sample(text, "roost_imbalance", "", stats.imbalance());
        family(text, "roost_remaps_total", "counter", "mappings published because traffic had shifted");
        sample(text, "roost_remaps_total", "", stats.remaps());
        family(text, "roost_remap_moved_bytes_total", "counter", "bytes of traffic whose home changed");
        sample(text, "roost_remap_moved_bytes_total", "", stats.movedBytes());
        List<WorkerStats> workers = stats.workers();
        family(text, "roost_workers", "gauge", "workers");
        sample(text, "roost_workers", "", workers.size());
        family(text, "roost_workers_pinned", "gauge", "workers that the kernel keeps on their core");
        sample(text, "roost_workers_pinned", "", pinned(workers));
        family(
                text,
                "roost_broken",
                "gauge",
                "1 if an error that is not of a search's own has broken the orchestrator");
        sample(text, "roost_broken", "", stats.broken() ? 1 : 0);
        return text.toString();
    }

    static long pinned(List<WorkerStats> workers) {
        return workers.stream()
                .filter(worker -> worker.pin() != null && worker.pin().pinned())
                .count();
    }

    private static String label(DomainStats domain) {
        return "{domain=\"" + domain.domain() + "\"}";
    }

    private static void family(StringBuilder text, String name, String type, String help) {
        text.append("# HELP ").append(name).append(' ').append(help).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    private static void sample(StringBuilder text, String name, String labels, Number value) {
        text.append(name).append(labels).append(' ').append(value).append('\n');
    }
}
