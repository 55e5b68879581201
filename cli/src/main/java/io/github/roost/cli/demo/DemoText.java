package io.github.roost.cli.demo;

import io.github.roost.cli.demo.DemoReport.Answer;
import io.github.roost.cli.demo.DemoReport.Build;
import io.github.roost.cli.demo.DemoReport.Domain;
import io.github.roost.cli.demo.DemoReport.Hit;
import io.github.roost.cli.demo.DemoReport.Homes;
import io.github.roost.cli.demo.DemoReport.Machine;
import io.github.roost.cli.demo.DemoReport.Measured;
import io.github.roost.cli.demo.DemoReport.Placement;
import io.github.roost.cli.demo.DemoReport.Steals;
import io.github.roost.cli.demo.DemoReport.TableTraffic;
import io.github.roost.cli.demo.DemoReport.Workload;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Prints the parts of a {@link DemoReport} as text, each as soon as it is available. */
final class DemoText {
    private static final int TABLES_SHOWN = 10;
    private static final int SYNOPSIS_WIDTH = 70;
    private static final int BAR_WIDTH = 30;

    private final PrintStream out;

    DemoText(PrintStream out) {
        this.out = out;
    }

    void machine(Machine machine) {
        title("Machine");
        line("topology: %s, a cache domain is one %s", machine.source(), machine.level());
        for (Domain domain : machine.domains()) {
            line(
                    "domain %d: %d %s, %s of cache, package %d, NUMA %s",
                    domain.domain(),
                    domain.cores(),
                    domain.cores() == 1 ? "core" : "cores",
                    domain.cacheBytes() == 0 ? "unknown size" : mebibytes(domain.cacheBytes()),
                    domain.packageId(),
                    domain.numaNodes());
        }
        for (WorkerPosition worker : machine.workers()) {
            line(
                    "worker %d: domain %d, core %d, %s%s",
                    worker.worker(),
                    worker.domain(),
                    worker.core(),
                    worker.tid() < 0
                            ? "position not reported by the kernel"
                            : "thread " + worker.tid() + " allowed on CPUs " + worker.allowed(),
                    worker.note().isEmpty() ? " (pinned)" : " (not pinned: " + worker.note() + ")");
        }
    }

    void build(Build build) {
        title("Tables");
        line("%,d packages of %d dimensions read in %.2f s", build.packages(), build.dimension(), build.loadSeconds());
        line("%d HNSW tables, one per section, built in %.2f s", build.hnswTables(), build.hnswSeconds());
        line("1 IVF table of all packages, %d lists, built in %.2f s", build.ivfLists(), build.ivfSeconds());
    }

    void answers(List<Answer> answers) {
        title("Answers");
        int all = 0;
        int same = 0;
        for (Answer answer : answers) {
            line("\"%s\"", answer.phrase());
            for (Hit hit : answer.hnsw()) {
                line("    %s (%s): %s", hit.name(), hit.section(), shortened(hit.synopsis()));
                all++;
                same += answer.ivf().stream().anyMatch(other -> other.name().equals(hit.name())) ? 1 : 0;
            }
        }
        line("from the HNSW tables; the IVF table found %d of these %d", same, all);
    }

    void workload(Workload workload) {
        title("Workload");
        line(
                "sections queried by Zipf's law, exponent %.1f, k %d, %d queries in flight",
                workload.zipfExponent(), workload.k(), workload.inFlight());
        line("%-34s%10s%12s%10s%10s%10s", "", "recall@" + workload.k(), "queries/s", "p50 us", "p99 us", "p99.9 us");
        measured("HNSW, one section of packages", workload.hnsw());
        measured("IVF, all packages", workload.ivf());
        line("");
        line("traffic, the bytes that searches read, by table:");
        long all = Math.max(
                1, workload.traffic().stream().mapToLong(TableTraffic::bytes).sum());
        workload.traffic().stream().limit(TABLES_SHOWN).forEach(table -> traffic(table.table(), table.bytes(), all));
        List<TableTraffic> rest = workload.traffic().stream().skip(TABLES_SHOWN).toList();
        if (!rest.isEmpty()) {
            traffic(
                    rest.size() + " more",
                    rest.stream().mapToLong(TableTraffic::bytes).sum(),
                    all);
        }
    }

    private void measured(String what, Measured measured) {
        line(
                "%-34s%10.3f%,12.0f%,10.0f%,10.0f%,10.0f",
                what, measured.recall(), measured.qps(), measured.p50us(), measured.p99us(), measured.p999us());
    }

    private void traffic(String table, long bytes, long all) {
        double share = (double) bytes / all;
        line(
                "%-20s%14s%7.1f %%  %s",
                table, mebibytes(bytes), 100 * share, "#".repeat((int) Math.round(BAR_WIDTH * share)));
    }

    void placement(Placement placement, int domains) {
        title("Mapping of tables to cache domains");
        if (domains == 1) {
            line(
                    "the only cache domain is the home of all tables; simulate two with --topology \"pack:1 l3:2 core:1 pu:1\"");
            return;
        }
        homes("before", placement.before(), domains);
        homes("after", placement.after(), domains);
        long moved = placement.before().tables().entrySet().stream()
                .filter(entry ->
                        !entry.getValue().equals(placement.after().tables().get(entry.getKey())))
                .count();
        line("%d remaps in windows of %d ms, %d tables moved", placement.remaps(), placement.windowMillis(), moved);
    }

    private void homes(String when, Homes homes, int domains) {
        line("%s (epoch %d):", when, homes.epoch());
        Map<Integer, List<String>> byDomain = new TreeMap<>();
        for (int domain = 0; domain < domains; domain++) {
            byDomain.put(domain, new ArrayList<>());
        }
        homes.tables()
                .forEach((table, at) -> at.forEach(domain ->
                        byDomain.getOrDefault(domain, new ArrayList<>()).add(table)));
        byDomain.forEach((domain, tables) -> line(
                "    domain %d: %d IVF lists, %d tables: %s",
                domain,
                homes.ivfListsPerDomain().get(domain),
                tables.size(),
                tables.stream().collect(Collectors.joining(" "))));
    }

    void steals(Steals steals) {
        title("Tasks");
        line(
                "%,d: %,d stolen by another worker of their domain, %,d by a worker of another domain",
                steals.tasks(), steals.intra(), steals.cross());
    }

    void end(boolean workersJoined) {
        line("");
        line(workersJoined ? "closed, every worker joined" : "closed, but not every worker ended in time");
        line("");
        line("next: ./roost serve has the same packages and a page to search them;");
        line("your own vectors: docs/guide/vector-tables.md in a program, docs/reference/commands.md without one");
    }

    private void title(String title) {
        line("%n%s", title);
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation would make Error Prone a dependency
    private void line(String format, Object... arguments) {
        out.println(String.format(Locale.ROOT, format, arguments));
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%,.1f MiB", bytes / (double) (1 << 20));
    }

    private static String shortened(String text) {
        return text.length() <= SYNOPSIS_WIDTH ? text : text.substring(0, SYNOPSIS_WIDTH - 3) + "...";
    }
}
