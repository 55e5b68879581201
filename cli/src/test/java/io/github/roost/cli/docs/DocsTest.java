package io.github.roost.cli.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What README.md and docs show in Java compiles, and their links lead somewhere. */
class DocsTest {
    private static final String DOCUMENTS = "io.github.roost.cli.docs.Documents#all";
    private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]+[A-Z]\\w*)`");
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#)([^)#\\s]+)");

    @ParameterizedTest
    @MethodSource(DOCUMENTS)
    void everyJavaBlockCompiles(Path document) throws IOException {
        String name = Documents.PROJECT.relativize(document).toString();

        assertThat(JavaBlocks.problems(name, Files.readString(document), sources()))
                .isEmpty();
    }

    private static String sources() throws IOException {
        StringBuilder sources = new StringBuilder();
        for (Path file : Documents.javaFiles()) {
            sources.append(Files.readString(file));
        }
        return sources.toString();
    }

    @ParameterizedTest
    @MethodSource(DOCUMENTS)
    void everyLinkWithinTheRepositoryLeadsToAFile(Path document) throws IOException {
        assertThat(LINK.matcher(Files.readString(document)).results().map(match -> match.group(1)))
                .allSatisfy(link ->
                        assertThat(document.resolveSibling(link).normalize()).exists());
    }

    @ParameterizedTest
    @MethodSource(DOCUMENTS)
    void numbersThatStandInTheCodeAreThoseOfTheCode(Path document) throws IOException {
        String name = Documents.PROJECT.relativize(document).toString();

        assertThat(CodeFacts.problems(name, Files.readString(document), librarySources()))
                .isEmpty();
    }

    private static Map<String, String> librarySources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (Path file : Documents.javaFiles()) {
            if (file.toString().contains("/src/main/")) {
                String type = file.getFileName().toString().replace(".java", "");
                sources.merge(type, Files.readString(file), String::concat);
            }
        }
        return sources;
    }

    @ParameterizedTest
    @CsvSource({
        "scheduling, 5",
        "tuning, 5",
        "limits, 5",
        "tables, 5",
        "remote, 20",
        "table-service, 12",
        "topology, 3",
        "observability, 1"
    })
    void theGuidesTakeTheirDefaultsAndLimitsFromTheCode(String guide, int facts) throws IOException {
        assertThat(CodeFacts.count(Files.readString(Documents.PROJECT.resolve("docs/" + guide + ".md"))))
                .isGreaterThanOrEqualTo(facts);
    }

    @Test
    void aNumberThatIsNotTheCodesIsReported() {
        Map<String, String> code = Map.of(
                "Pool",
                "looks = spinThenPark(1_000); gate = new Gate(2, 200_000); twice(1); twice(2)",
                "Rows",
                "most = Integer.MAX_VALUE - 8; twice(3)");

        assertThat(CodeFacts.problems("a.md", "<!-- as in: spinThenPark(#) -->1,000 looks", code))
                .isEmpty();
        assertThat(CodeFacts.problems("a.md", "for <!-- as in: Gate(2, #_000) -->200 us", code))
                .isEmpty();
        assertThat(CodeFacts.problems("a.md", "<!-- as in: spinThenPark(#) -->200 looks", code))
                .containsExactly("a.md says 200 for spinThenPark(#), the code says [1000]");
        assertThat(CodeFacts.problems("a.md", "<!-- as in: spinThenPark(#) --> looks", code))
                .containsExactly("a.md says no number for spinThenPark(#), the code says [1000]");
        assertThat(CodeFacts.problems("a.md", "<!-- as in: gone(#) -->1", code))
                .containsExactly("a.md says 1 for gone(#), the code says []");
        assertThat(CodeFacts.problems("a.md", "<!-- as in: twice(#) -->1", code))
                .hasSize(1);
        assertThat(CodeFacts.problems("a.md", "<!-- as in Rows: twice(#) -->3", code))
                .isEmpty();
        assertThat(CodeFacts.problems("a.md", "<!-- as in Pool: most = # -->1", code))
                .containsExactly("a.md says 1 for most = #, the code says []");
        assertThat(CodeFacts.problems("a.md", "up to <!-- as in: most = # -->2,147,483,639 rows", code))
                .isEmpty();
    }

    @Test
    void everyTypeThatTheArchitectureNamesExists() throws IOException {
        Set<String> sources = Documents.javaFiles().stream()
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toSet());

        assertThat(TYPE.matcher(Files.readString(Documents.PROJECT.resolve("docs/architecture.md")))
                        .results()
                        .map(match -> match.group(1) + ".java"))
                .hasSizeGreaterThan(10)
                .allSatisfy(type -> assertThat(sources).contains(type));
    }

    @Test
    void aBlockThatDoesNotCompileIsReportedWithFileAndLine() {
        String markdown = """
                # A guide

                <!-- given
                import java.util.List;
                List<String> names = List.of();
                -->
                ```java
                import java.util.Set;

                Set<String> once = Set.copyOf(names);
                int wrong = once;
                ```

                ```java
                public final class Other {
                    Missing field;
                }
                ```
                """;

        assertThat(JavaBlocks.problems("guide.md", markdown, ""))
                .hasSize(2)
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("guide.md:11: incompatible types"),
                        second -> assertThat(second).startsWith("guide.md:16: cannot find symbol"));
    }
}
