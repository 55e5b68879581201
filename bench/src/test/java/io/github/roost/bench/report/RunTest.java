package io.github.roost.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.bench.Provenance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunTest {
    private static final RunPart FIRST = RunPart.of("first", 1, "bench first");
    private static final RunPart SECOND = RunPart.of("second", 1, "bench second --rounds 2");
    private static final Run.Kept NOTHING = results -> {};

    @TempDir
    private Path folder = Path.of("");

    private final List<String> ran = new ArrayList<>();
    private final List<String> told = new ArrayList<>();

    private Results run(String commit, List<RunPart> parts, Run.Command command)
            throws IOException, InterruptedException {
        Provenance here = new Provenance(commit, "cpu", 2, "1 cache domain", 1, "system", "java", Map.of());
        return new Run(folder, here, false, command, told::add).all(parts, NOTHING);
    }

    private String succeeds(RunPart part, Path json) throws IOException {
        ran.add(part.name());
        Files.writeString(json, "{\"figure\": 1.23456789}");
        return "";
    }

    @Test
    void everyPartIsKeptWithWhatItFoundAndHowLongItTook() throws Exception {
        Results results = run("c1", List.of(FIRST, SECOND), this::succeeds);

        assertThat(results.parts()).extracting(PartResult::line).containsExactly(FIRST.line(), SECOND.line());
        assertThat(results.part("first").orElseThrow().result()).hasToString("{\"figure\":1.2346}");
        assertThat(Results.read(folder.resolve("results.json"))).isEqualTo(results);
        assertThat(told).first().asString().isEqualTo("[1/2, about 2 min left] ./roost bench first");
    }

    @Test
    void anInterruptedRunGoesOnWhereItWas() throws Exception {
        assertThatThrownBy(() -> run("c1", List.of(FIRST, SECOND), (part, json) -> {
                    if (part.equals(SECOND)) {
                        throw new InterruptedException("Ctrl-C");
                    }
                    return succeeds(part, json);
                }))
                .isInstanceOf(InterruptedException.class);
        assertThat(Results.read(folder.resolve("results.json")).parts()).hasSize(1);

        assertThat(run("c1", List.of(FIRST, SECOND), this::succeeds).parts()).hasSize(2);
        assertThat(ran).containsExactly("first", "second");
    }

    @Test
    void anotherCommitOrAnotherCommandRunsAgain() throws Exception {
        run("c1", List.of(FIRST), this::succeeds);
        run("c2", List.of(FIRST), this::succeeds);
        run("c2", List.of(RunPart.of("first", 1, "bench first --rounds 9")), this::succeeds);

        assertThat(ran).hasSize(3);
    }

    @Test
    void aPartThatFailsIsReportedLosesNothingElseAndIsTriedAgain() throws Exception {
        Results results = run(
                "c1",
                List.of(FIRST, SECOND),
                (part, json) -> part.equals(FIRST) ? "status 1: no python" : succeeds(part, json));

        assertThat(results.parts()).extracting(PartResult::failure).containsExactly("status 1: no python", null);
        assertThat(told).contains("  failed: status 1: no python");
        assertThat(run("c1", List.of(FIRST, SECOND), this::succeeds).parts())
                .extracting(PartResult::failure)
                .containsOnlyNulls();
        assertThat(ran).containsExactly("second", "first");
    }

    @Test
    void aPartThatLeavesNoJsonHasFailed() throws Exception {
        Results results = run("c1", List.of(FIRST), (part, json) -> "");

        assertThat(results.parts().getFirst().failure()).startsWith("it left no JSON");
    }

    @Test
    void resultsOfOtherShapesAreKeptAsTheyAre() throws Exception {
        String shape = "{\"results\":{\"none\":[{\"p50us\":1.5}]},\"loads\":[{\"load\":0.5}]}";
        Results results = run("c1", List.of(FIRST), (part, json) -> {
            Files.writeString(json, shape);
            return "";
        });

        assertThat(results.parts().getFirst().result()).hasToString(shape);
    }

    @Test
    void aPartFileThatIsBrokenIsRunAgain() throws Exception {
        run("c1", List.of(FIRST), this::succeeds);
        Files.writeString(folder.resolve("parts/first.json"), "{\"na");
        run("c1", List.of(FIRST), this::succeeds);

        assertThat(ran).hasSize(2);
    }

    @Test
    void aFileThatIsNoRunIsNamed() throws Exception {
        Path file = Files.writeString(folder.resolve("x.json"), "{}");

        assertThatThrownBy(() -> Results.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("x.json must be the results.json of a run");
    }
}
