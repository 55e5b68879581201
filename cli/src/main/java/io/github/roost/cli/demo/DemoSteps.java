package io.github.roost.cli.demo;

import io.github.roost.cli.JobProgress;
import io.github.roost.cli.Streams;
import io.github.roost.cli.demo.DemoReport.Answer;
import io.github.roost.cli.demo.DemoReport.Domain;
import io.github.roost.cli.demo.DemoReport.Homes;
import io.github.roost.cli.demo.DemoReport.Machine;
import io.github.roost.cli.demo.DemoReport.Placement;
import io.github.roost.cli.demo.DemoReport.Steals;
import io.github.roost.cli.demo.DemoReport.Workload;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OrchestratorStats.MappingStats;
import io.github.roost.core.OrchestratorStats.MappingStats.TableHomes;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.rows.Attributes;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Query;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The steps of the demo on a running orchestrator; each result is printed at once. */
final class DemoSteps {
    private static final int PHRASES = 12;
    private static final int HITS_SHOWN = 3;

    private final Orchestrator orchestrator;
    private final DebianPackages data;
    private final DemoSettings settings;
    private final Streams streams;
    private final DemoText text;

    DemoSteps(Orchestrator orchestrator, DebianPackages data, DemoSettings settings, Streams streams) {
        this.orchestrator = orchestrator;
        this.data = data;
        this.settings = settings;
        this.streams = streams;
        this.text = new DemoText(settings.json() ? new PrintStream(OutputStream.nullOutputStream()) : streams.out());
    }

    DemoText text() {
        return text;
    }

    DemoReport run(double loadSeconds, Duration window) throws IOException, InterruptedException {
        Machine machine = machine();
        text.machine(machine);
        DemoTables tables = DemoTables.build(orchestrator, data, loadSeconds, streams);
        text.build(tables.build());
        List<Answer> answers = answers(tables);
        text.answers(answers);
        DemoTruth truth = truth();
        OrchestratorStats statsBefore = orchestrator.stats();
        Homes before = homes(tables);
        Workload workload = new DemoWorkload(orchestrator, data, tables, truth, settings.k())
                .run(Duration.ofSeconds(settings.seconds()), streams);
        text.workload(workload);
        OrchestratorStats stats = orchestrator.stats();
        Placement placement =
                new Placement(window.toMillis(), stats.remaps() - statsBefore.remaps(), before, homes(tables));
        text.placement(placement, machine.domains().size());
        Steals steals = steals(statsBefore.tasks(), stats.tasks());
        text.steals(steals);
        return new DemoReport(machine, tables.build(), answers, workload, placement, steals, false);
    }

    private Machine machine() {
        Topology topology = orchestrator.topology();
        List<Domain> domains = topology.domains().stream()
                .map(domain -> new Domain(
                        domain.id(),
                        domain.cacheBytes(),
                        domain.packageId(),
                        domain.numaNodes(),
                        domain.cores().size()))
                .toList();
        return new Machine(
                topology.source(), topology.level().name(), topology.bindable(), domains, RollCall.of(orchestrator));
    }

    private DemoTruth truth() {
        try (JobProgress progress =
                new JobProgress(streams, "exact search, to measure recall against", DemoTruth.steps(data))) {
            return DemoTruth.of(data, settings.k(), progress::steps);
        }
    }

    private List<Answer> answers(DemoTables tables) throws IOException {
        List<Answer> answers = new ArrayList<>();
        try (DemoAttributes attributes = DemoAttributes.of(data)) {
            SearchFunction<float[], Attributes.Enriched> search = attributes.after(tables.allHere(settings.k()));
            for (int i = 0; i < PHRASES; i++) {
                Query phrase = data.phrases().get(i * data.phrases().size() / PHRASES);
                Attributes.Enriched merged = attributes.of(
                        tables.searchSections(phrase.vector(), settings.k()).join());
                Attributes.Enriched all = orchestrator
                        .submit(
                                search,
                                phrase.vector(),
                                tables.all().registration().id(0))
                        .join();
                answers.add(new Answer(
                        phrase.text(), DemoAttributes.hits(merged, HITS_SHOWN), DemoAttributes.hits(all, HITS_SHOWN)));
            }
        }
        return answers;
    }

    private Homes homes(DemoTables tables) {
        MappingStats mapping = orchestrator.mapping();
        Set<String> sections = tables.sections().stream().map(HnswTable::name).collect(Collectors.toSet());
        Map<String, List<Integer>> homes = new TreeMap<>();
        Integer[] ivfListsPerDomain = new Integer[mapping.domains()];
        Arrays.fill(ivfListsPerDomain, 0);
        for (TableHomes table : mapping.tables()) {
            if (sections.contains(table.name())) {
                homes.put(table.name(), table.homes().getFirst());
            } else {
                table.homes().forEach(list -> list.forEach(home -> ivfListsPerDomain[home]++));
            }
        }
        return new Homes(mapping.epoch(), homes, List.of(ivfListsPerDomain));
    }

    private static Steals steals(OrchestratorStats.TaskCounts before, OrchestratorStats.TaskCounts after) {
        return new Steals(
                after.completed() - before.completed(),
                after.intraSteals() - before.intraSteals(),
                after.crossSteals() - before.crossSteals());
    }
}
