package io.github.roost.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.simulator.SimResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class EvidenceTest {
    /** A quick run, recorded. */
    private static Results small() throws IOException {
        return Results.read(Path.of("src/test/resources/io/github/roost/bench/report/small-run.json"));
    }

    private static JsonNode found(String part) throws IOException {
        return Objects.requireNonNull(small().part(part).orElseThrow().result());
    }

    private static Results with(Results results, PartResult part) {
        List<PartResult> parts = results.parts().stream()
                .map(other -> other.name().equals(part.name()) ? part : other)
                .toList();
        return new Results(results.written(), results.quick(), results.provenance(), parts);
    }

    @Test
    void theEvidenceInTheRepositoryIsWhatItsResultsMake() throws IOException {
        String markdown = Files.readString(Path.of("../docs/results/evidence.md"));
        Path file = Path.of("../docs/results/evidence.json");

        assertThat(Files.exists(file)).isEqualTo(markdown.startsWith("<!-- Made by roost bench all"));
        if (Files.exists(file)) {
            Results results = Results.read(file);
            assertThat(markdown).isEqualTo(Evidence.markdown(results, "evidence.json"));
            assertThat(results.quick()).isFalse();
        }
    }

    @Test
    void everyPartOfAFullRunHasItsPlaceInTheTemplate() throws IOException {
        String template = Files.readString(Path.of("src/main/resources/io/github/roost/bench/report/evidence.md"));

        assertThat(Parts.of(false, true))
                .allSatisfy(part -> assertThat(template)
                        .contains("{{command " + part.name() + "}}")
                        .containsPattern("\\{\\{(?!command)\\w+ " + part.name() + "}}"));
        assertThat(Pattern.compile("\\{\\{\\w+ ([\\w-]+)}}")
                        .matcher(template)
                        .results()
                        .map(match -> match.group(1)))
                .isSubsetOf(Parts.of(false, true).stream().map(RunPart::name).toList());
    }

    @Test
    void everyPartTakesLessThanFourMinutesAndAllOfThemHalfAnHour() {
        assertThat(Parts.of(false, true)).extracting(RunPart::minutes).allMatch(minutes -> minutes < 4);
        assertThat(Parts.of(false, true).stream().mapToDouble(RunPart::minutes).sum())
                .isLessThanOrEqualTo(30);
    }

    @Test
    void whatAPartReadsOfAnotherIsLeftBefore() {
        List<String> before = new ArrayList<>();
        for (RunPart part : Parts.of(false, true)) {
            assertThat(part.command().stream().filter(word -> word.endsWith(".json")))
                    .isSubsetOf(before);
            before.add(part.name() + ".json");
        }
    }

    @Test
    void markdownHasTheMachineTheCommandsAndThePapersFigures() throws IOException {
        String markdown = Evidence.markdown(small(), "evidence.json");

        assertThat(markdown)
                .startsWith("<!-- Made by roost bench all --evidence of evidence.json")
                .contains("- Machine: ", "- Commit: ", "no figure here is to be relied on")
                .contains("`./roost sim --workload hnsw --budget-mib 8 --ccds 1..4")
                .contains("| figure of the paper | here | the paper | difference |", "| 30-50 % |")
                .contains("The simulator predicts ", "*Not a part of this run.*")
                .doesNotContain("{{", "NaN", "plots-of", "null");
    }

    @Test
    void everyRowOfATableHasAsManyCellsAsItsHead() throws IOException {
        int cells = 0;
        for (String line : Evidence.markdown(small(), "evidence.json").split("\n", -1)) {
            int here = line.startsWith("|") ? line.split("\\|", -1).length : 0;
            assertThat(here).as(line).isIn(0, cells == 0 ? here : cells);
            cells = here;
        }
    }

    @Test
    void aPageBringsAllThatItShows() throws IOException {
        String page = Evidence.page(small());

        assertThat(page.split("<figure>", -1)).hasSizeGreaterThan(15);
        assertThat(page.split("<svg ", -1)).hasSameSizeAs(page.split("<figure>", -1));
        assertThat(page)
                .contains("prefers-color-scheme: dark", "aria-label=\"Throughput, hnsw: v0, v1, v2")
                .doesNotContain("plots-of", "src=", "href=", "@import", "url(http");
    }

    @Test
    void aPartThatFailedSaysWhy() throws IOException {
        PartResult failed = new PartResult("ivf", "./roost bench ivf", "c", 1, "status 1: <no> python", null);
        Results results = with(small(), failed);

        assertThat(Evidence.markdown(results, "e.json"))
                .contains("`./roost bench ivf` failed: `status 1: <no> python`");
        assertThat(Evidence.page(results))
                .contains("status 1: &lt;no&gt; python")
                .doesNotContain("<no>");
    }

    @Test
    void aPartWithOtherFiguresHidesNoOther() throws IOException {
        PartResult other = new PartResult(
                "sim-hnsw", "./roost sim", "c", 1, null, new ObjectMapper().readTree("{\"results\": 7}"));

        assertThat(Evidence.markdown(with(small(), other), "e.json"))
                .contains("*Its figures are not what is shown here: ", "| that begin with a remap |");
    }

    @Test
    void aSweepKeepsTablesAtTheMostDomainsAloneAndNoWindows() throws IOException {
        JsonNode results = found("sim-hnsw").path("results");

        for (JsonNode result : results) {
            assertThat(result.path("windows")).isEmpty();
            assertThat(result.path("tables").isEmpty())
                    .isEqualTo(result.path("domains").asInt() < 4);
        }
        assertThat(found("sim-drift").at("/results/0/windows")).hasSizeGreaterThan(50);
    }

    @Test
    void aWindowIsReadAsItWasKept() throws IOException {
        JsonNode kept = Condensed.of(Results.JSON.readTree("""
                {"results": [{"domains": 4, "windows": [
                    {"perSecond": 3.5, "imbalance": 1.25, "l3MissRatio": 0.5, "remaps": 7, "meanMicros": 9}]}]}"""));

        assertThat(Results.JSON.treeToValue(kept.at("/results/0/windows/0"), SimResult.Window.class))
                .isEqualTo(new SimResult.Window(3.5, 1.25, 0, 7, 0));
    }
}
