package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadTables;
import io.github.roost.topology.DomainLevel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("stress")
class SimulationTest {
    private static final Parameters PARAMETERS = Parameters.builtIn();

    /** Tables of the size of one L3, each search of which reads every node once. */
    private static Traces sweeps(int tables, int nodes) throws IOException {
        WorkloadSpec spec = spec("hnsw", tables);
        int[] all = IntStream.range(0, nodes).toArray();
        List<Traces.Table> traced = new ArrayList<>();
        for (int table = 0; table < tables; table++) {
            int[][] visits = new int[spec.targets()][];
            Arrays.fill(visits, all);
            traced.add(new Traces.Table("t" + table, 1_024, nodes, 1, 10, 20, new int[0], visits));
        }
        return new Traces(spec, traced);
    }

    private static WorkloadSpec spec(String name, int tables) throws IOException {
        WorkloadSpec built = WorkloadSpec.load(name);
        return new WorkloadSpec(
                name,
                built.index(),
                built.data(),
                tables,
                2,
                List.of(16, 32),
                1,
                5,
                .5,
                0,
                0,
                10,
                20,
                2,
                100,
                4,
                32,
                0,
                7,
                built.popularity(),
                built.fullSize());
    }

    private static SimResult run(Traces traces, Parameters.Machine machine, String policy) {
        return run(traces, machine, policy, 1);
    }

    private static SimResult run(Traces traces, Parameters.Machine machine, String policy, int sample) {
        return new Simulation(
                        traces,
                        SimulatedMachine.of(machine, DomainLevel.L3),
                        PARAMETERS.tasks(),
                        Policy.parse(policy).getFirst(),
                        400,
                        WindowLength.ofSearches(40),
                        0,
                        new Sampling(sample))
                .run();
    }

    @Test
    void tablesAtHomeAreFoundInTheirCacheAndScatteredOnesAreNot() throws IOException {
        // Four tables of 24 MiB, four domains of 32 MiB.
        Traces traces = sweeps(4, 24 << 10);
        Parameters.Machine machine = PARAMETERS.machine("genoa").withDomains(4);
        SimResult scattered = run(traces, machine, "v0");
        SimResult home = run(traces, machine, "v2-gated");
        assertThat(scattered.l3MissRatio()).isGreaterThan(.9);
        assertThat(home.l3MissRatio()).isLessThan(.1);
        assertThat(home.perSecond()).isGreaterThan(1.2 * scattered.perSecond());
    }

    /**
     * Tables that fit their home, or are scattered. Tables a little larger than their home are in its cache or not by the order
     * of searches, which a sample changes.
     */
    @ParameterizedTest
    @CsvSource({"v0, 8", "v2-gated, 4"})
    void aSampleOfTheNodesTellsTheSame(String policy, int tables) throws IOException {
        Traces traces = sweeps(tables, 12 << 10);
        Parameters.Machine machine = PARAMETERS.machine("genoa").withDomains(2);
        SimResult all = run(traces, machine, policy);
        SimResult sampled = run(traces, machine, policy, 4);
        assertThat(sampled.perSecond()).isCloseTo(all.perSecond(), withinPercentage(10));
        assertThat(sampled.l3MissRatio()).isCloseTo(all.l3MissRatio(), within(.05));
    }

    /** A table of 12 MiB in so many copies, whose nodes the copies share or not. */
    private static Traces copies(int count, boolean shared) throws IOException {
        WorkloadSpec spec = spec("paper-hnsw", 1);
        int[] all =
                IntStream.range(0, 12 << 10).map(node -> shared ? ~node : node).toArray();
        int[][] visits = new int[spec.targets()][];
        Arrays.fill(visits, all);
        Traces.Table table = new Traces.Table("t", 1_024, 12 << 10, count, 10, 20, new int[0], visits);
        return new Traces(spec, List.of(table));
    }

    @Test
    void copiesOfATableAreReadApartAndWhatTheyShareIsNot() throws IOException {
        Parameters.Machine machine = PARAMETERS.machine("genoa").withDomains(1);
        assertThat(run(copies(1, false), machine, "v1").l3MissRatio()).isLessThan(.05);
        assertThat(run(copies(16, false), machine, "v1").l3MissRatio()).isGreaterThan(.5);
        assertThat(run(copies(16, true), machine, "v1").l3MissRatio()).isLessThan(.05);
    }

    @ParameterizedTest
    @ValueSource(strings = {"paper-hnsw", "paper-ivf"})
    void tablesOfFullSizeAreRecordedSmallerWithTheRowsAndTheRecallThatTheyHave(String workload) throws Exception {
        WorkloadSpec spec = WorkloadSpec.load(workload).withRecorded(1_000, 5);
        Traces traces = new FullSizeRecorder(spec, done -> {}).record();
        WorkloadSpec.FullSize size = Objects.requireNonNull(spec.fullSize());
        assertThat(traces.tables()).hasSize(spec.tables()).allSatisfy(table -> {
            double rows = (double) table.copies() * table.rowCount();
            assertThat(rows).isBetween(.9 * size.leastRows(), 1.1 * size.mostRows());
            assertThat(table.visits()).hasNumberOfRows(5);
            assertThat(table.hasLists() ? table.slots() : size.leastLists()).isBetween(1, 2 * size.mostLists());
        });
        double gigabytes =
                traces.tables().stream().mapToLong(Traces.Table::bytes).sum() / 1e9;
        assertThat(gigabytes).isBetween(2.0, 300.0);
        assertThat(new FullSizeRecorder(spec, done -> {})
                        .record()
                        .tables()
                        .getFirst()
                        .visits())
                .isDeepEqualTo(traces.tables().getFirst().visits());
    }

    @Test
    void twoWorkloadsOnOneMachineReadAsManyBytes() throws Exception {
        Traces mixed = Traces.mixed(record(spec("hnsw", 3)), record(spec("ivf", 3)));
        AccessCounts counts = AccessCounts.of(mixed.with(spec -> spec.withQuerySkew(0)), 20_000);
        double searched = 0;
        double all = 0;
        for (AccessCounts.Table table : counts.tables()) {
            boolean lists = mixed.tables().stream().anyMatch(each -> each.hasLists() && each.slots() == table.items());
            searched += lists ? 0 : table.bytes();
            all += table.bytes();
        }
        assertThat(searched / all).isBetween(.35, .65);
    }

    @Test
    void stealingBlindToTheTopologyCrossesDomainsAndGatedStealingDoesNot() throws IOException {
        Traces traces = sweeps(40, 200);
        Parameters.Machine machine = PARAMETERS.machine("genoa").withDomains(4);
        assertThat(run(traces, machine, "v1").crossShare()).isGreaterThan(.5);
        assertThat(run(traces, machine, "v2-gated").crossShare()).isLessThan(.1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void theSameTracesGiveTheSameResult(String index) throws Exception {
        WorkloadSpec spec = spec(index, 6);
        Traces traces = record(spec);
        for (String policy : Policy.NAMES) {
            SimResult once = run(traces, PARAMETERS.machine("rome"), policy);
            assertThat(run(traces, PARAMETERS.machine("rome"), policy)).isEqualTo(once);
            assertThat(once.searches()).isEqualTo(400);
            assertThat(once.utilization()).isBetween(0.0, 1.0);
        }
    }

    @Test
    void recordingTwiceGivesTheSameTraces() throws Exception {
        WorkloadSpec spec = spec("hnsw", 3);
        Traces once = record(spec);
        Traces again = record(spec);
        for (int table = 0; table < 3; table++) {
            assertThat(again.tables().get(table).visits())
                    .isDeepEqualTo(once.tables().get(table).visits());
        }
    }

    private static Traces record(WorkloadSpec spec) throws Exception {
        return new TraceRecorder(spec, WorkloadTables.specs(spec, Path.of("")), done -> {}).record();
    }

    /** So few that they complete in the order of their arrival. */
    @Test
    void everyPolicySeesTheSameSearchesOfAnOpenLoop() throws IOException {
        WorkloadSpec spec = spec("ivf", 8).withLoad(1, 10);
        int[][] visits = new int[spec.targets()][];
        Arrays.fill(visits, new int[] {0, 1, 2});
        List<Traces.Table> tables = IntStream.range(0, 8)
                .mapToObj(
                        table -> new Traces.Table("t" + table, 1_024, 300, 1, 10, 3, new int[] {100, 100, 100}, visits))
                .toList();
        Traces traces = new Traces(spec, tables);
        Parameters.Machine machine = PARAMETERS.machine("genoa").withDomains(2);
        List<Long> ofV0 = searchesByTable(run(traces, machine, "v0"));
        for (String policy : List.of("v1", "v2", "roost")) {
            assertThat(searchesByTable(run(traces, machine, policy))).as(policy).isEqualTo(ofV0);
        }
    }

    private static List<Long> searchesByTable(SimResult result) {
        return result.tables().stream().map(table -> table.latencies().count()).toList();
    }

    @Test
    void anOpenLoopBelowCapacityCompletesWhatArrives() throws IOException {
        Traces closed = sweeps(8, 500);
        Parameters.Machine machine = PARAMETERS.machine("rome").withDomains(2);
        double capacity = run(closed, machine, "v2").perSecond();
        Traces open = closed.with(spec -> spec.withLoad(1, capacity / 2));
        SimResult half = run(open, machine, "v2");
        assertThat(half.perSecond()).isBetween(.4 * capacity, .6 * capacity);
        assertThat(half.latencies().p50us())
                .isLessThan(run(closed, machine, "v2").latencies().p50us());
    }

    @Test
    void aTraceFileIsReadBackAndADamagedOneRefused(@TempDir Path folder) throws Exception {
        Traces traces = sweeps(2, 50);
        Path file = folder.resolve("traces");
        TraceFile.write(file, traces);
        Traces read = TraceFile.read(file, traces.spec());
        assertThat(read.tables().getFirst().visits())
                .isDeepEqualTo(traces.tables().getFirst().visits());
        assertThatThrownBy(() -> TraceFile.read(file, traces.spec().withBudgetMib(9)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("another workload");
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 3));
        assertThatThrownBy(() -> TraceFile.read(file, traces.spec())).hasMessageContaining("cut short");
        ByteBuffer.wrap(bytes).putInt(bytes.length - 4, 50);
        Files.write(file, bytes);
        assertThatThrownBy(() -> TraceFile.read(file, traces.spec()))
                .hasMessageContaining("must be between 0 and 49, got 50");
    }

    @Test
    void windowsEndByTimeOrBySearchesAndTellWhatHappenedInThem() throws IOException {
        Traces traces = sweeps(4, 24 << 10);
        SimResult bySearches = run(traces, PARAMETERS.machine("genoa").withDomains(4), "v0");
        assertThat(bySearches.windows()).hasSize(10).allSatisfy(window -> {
            assertThat(window.perSecond()).isPositive();
            assertThat(window.l3MissRatio()).isGreaterThan(.8);
        });
        double seconds = bySearches.seconds() / 5;
        SimResult byTime = new Simulation(
                        traces,
                        SimulatedMachine.of(PARAMETERS.machine("genoa").withDomains(4), DomainLevel.L3),
                        PARAMETERS.tasks(),
                        Policy.parse("v0").getFirst(),
                        400,
                        WindowLength.ofSeconds(seconds),
                        0,
                        new Sampling(1))
                .run();
        assertThat(byTime.windows()).hasSizeBetween(4, 6);
        assertThatThrownBy(() -> new WindowLength(0, 0)).hasMessageContaining("got 0 and 0");
    }

    @Test
    void eachTablesLatenciesStandBesideThePapers() throws IOException {
        Traces traces = sweeps(3, 500);
        Parameters.Machine machine = PARAMETERS.machine("genoa").withDomains(2);
        List<String> lines = new ArrayList<>();
        new SimReport(traces.spec(), List.of(run(traces, machine, "v0"), run(traces, machine, "v2")), List.of())
                .print(lines::add, true);
        assertThat(lines).anyMatch(line -> line.startsWith("t0 ")).anyMatch(line -> line.startsWith("t2 "));
        assertThat(lines)
                .anyMatch(line -> line.contains("figure 16") && line.contains("30-50 %"))
                .anyMatch(line -> line.contains("figure 17") && line.contains("60-90 %"));
    }

    @Test
    void badNamesAreNamed() {
        assertThatThrownBy(() -> Policy.parse("v0,v3")).hasMessageContaining("got v3");
        assertThatThrownBy(() -> PARAMETERS.machine("milan")).hasMessageContaining("got milan");
        assertThatThrownBy(() -> WorkloadSpec.load("no-such-workload"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no-such-workload");
    }
}
