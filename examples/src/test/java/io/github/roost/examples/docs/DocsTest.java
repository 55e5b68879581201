package io.github.roost.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What README.md and docs show in Java compiles, and their links lead somewhere. */
class DocsTest {
    private static final String DOCUMENTS = "io.github.roost.examples.docs.Documents#all";
    private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]+[A-Z]\\w*)`");
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#)([^)#\\s]+)");

    @ParameterizedTest
    @MethodSource(DOCUMENTS)
    void everyJavaBlockCompiles(Path document) throws IOException {
        String name = Documents.PROJECT.relativize(document).toString();

        assertThat(JavaBlocks.problems(name, Files.readString(document), Documents.sources()))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource(DOCUMENTS)
    void everyLinkWithinTheRepositoryLeadsToAFile(Path document) throws IOException {
        assertThat(LINK.matcher(Files.readString(document)).results().map(match -> match.group(1)))
                .allSatisfy(link ->
                        assertThat(document.resolveSibling(link).normalize()).exists());
    }

    @Test
    void everyTypeThatTheArchitectureNamesExists() throws IOException {
        try (Stream<Path> files = Files.walk(Documents.PROJECT)) {
            Set<String> sources =
                    files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());

            assertThat(TYPE.matcher(Files.readString(Documents.PROJECT.resolve("docs/architecture.md")))
                            .results()
                            .map(match -> match.group(1) + ".java"))
                    .hasSizeGreaterThan(10)
                    .allSatisfy(type -> assertThat(sources).contains(type));
        }
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
