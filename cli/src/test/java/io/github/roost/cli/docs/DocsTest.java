package io.github.roost.cli.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
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
    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*");
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
    @CsvSource({"guide/remote, 5", "guide/vector-tables, 5", "reference/limits, 5", "reference/options, 15"})
    void pagesTakeTheirDefaultsAndLimitsFromTheCode(String page, int facts) throws IOException {
        assertThat(CodeFacts.count(Files.readString(Documents.PROJECT.resolve("docs/" + page + ".md"))))
                .isGreaterThanOrEqualTo(facts);
    }

    @Test
    void aNumberThatIsNotTheCodesIsReported() {
        Map<String, String> code = Map.of(
                "Pool",
                "looks = spinThenPark(1_000); gate = new Gate(2, 200_000); twice(1); twice(2)",
                "Rows",
                "most = Integer.MAX_VALUE - 8; twice(3); say(\"rows\", 5)");

        assertThat(problems("sleeps after 1,000\nspins\n\n[fact: after # spins]: # \"spinThenPark(#)\"", code))
                .isEmpty();
        assertThat(problems("for 200 us\n\n[fact: for # us]: # \"Gate(2, #_000)\"", code))
                .isEmpty();
        assertThat(problems("up to 2,147,483,639 rows\n\n[fact: up to # rows]: # \"Rows: most = #\"", code))
                .isEmpty();
        assertThat(problems("5 rows\n\n[fact: # rows]: # 'say(\"rows\", #)'", code))
                .isEmpty();
        assertThat(problems("after 200 spins\n\n[fact: after # spins]: # \"spinThenPark(#)\"", code))
                .containsExactly("a.md says [200] in \"after # spins\", the code says [1000] in spinThenPark(#)");
        assertThat(problems("after spins\n\n[fact: after # spins]: # \"spinThenPark(#)\"", code))
                .containsExactly("a.md says [] in \"after # spins\", the code says [1000] in spinThenPark(#)");
        assertThat(problems("1 spin, 2 spins\n\n[fact: # spin]: # \"twice(#)\"", code))
                .hasSize(1);
        assertThat(problems("3 spins\n\n[fact: # spins]: # \"Rows: twice(#)\"", code))
                .isEmpty();
        assertThat(problems("1 row\n\n[fact: # row]: # \"Pool: most = #\"", code))
                .containsExactly("a.md says [1] in \"# row\", the code says [] in most = #");
        assertThat(problems("1 row\n\n[fact: # row]: # no quotes", code)).hasSize(1);
    }

    private static List<String> problems(String markdown, Map<String, String> code) {
        return CodeFacts.problems("a.md", markdown, code);
    }

    /** The shelves for readers with a task, for looking up, for understanding, and what commands have written. */
    @ParameterizedTest
    @MethodSource(DOCUMENTS)
    void everyPageStandsOnAShelf(Path document) {
        Path place = Documents.PROJECT.resolve("docs").relativize(document);

        assertThat(place.getName(0).toString()).isIn("guide", "reference", "design", "..");
    }

    @Test
    void thePagesWrittenByHandHaveAtMost25000Words() throws IOException {
        long words = 0;
        for (Path document : Documents.all()) {
            String seen = COMMENT.matcher(CodeFacts.withoutDefinitions(Files.readString(document)))
                    .replaceAll("");
            words += WORD.matcher(seen).results().count();
        }

        assertThat(words).isBetween(1_000L, 25_000L);
    }

    @Test
    void theReadmeHasFewerThan100Lines() throws IOException {
        assertThat(Files.readAllLines(Documents.PROJECT.resolve("README.md"))).hasSizeLessThan(100);
    }

    @Test
    void everyGuideHasCodeWithinItsFirst40Lines() throws IOException {
        assertThat(Documents.guides())
                .hasSizeGreaterThan(5)
                .allSatisfy(
                        guide -> assertThat(Files.readAllLines(guide).stream().limit(40))
                                .anySatisfy(line -> assertThat(line).startsWith("```")));
    }

    @Test
    void everyTypeThatTheArchitectureNamesExists() throws IOException {
        Set<String> sources = Documents.javaFiles().stream()
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toSet());

        assertThat(TYPE.matcher(Files.readString(Documents.PROJECT.resolve("docs/design/architecture.md")))
                        .results()
                        .map(match -> match.group(1) + ".java"))
                .hasSizeGreaterThan(10)
                .allSatisfy(type -> assertThat(sources).contains(type));
    }

    @Test
    void aBlockThatDoesNotCompileIsReportedWithFileAndLine() {
        String markdown = """
                # A guide

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

                <!-- given
                import java.util.List;
                List<String> names;
                -->
                """;

        assertThat(JavaBlocks.problems("guide.md", markdown, ""))
                .hasSize(2)
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("guide.md:7: incompatible types"),
                        second -> assertThat(second).startsWith("guide.md:12: cannot find symbol"));
    }
}
