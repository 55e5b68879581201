package io.github.roost.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** C sources are formatted as {@code .clang-format} says, as Spotless holds it for Java. */
@Tag("program")
class NativeFormatTest {
    private static final Set<String> NO_SOURCES = Set.of("target", ".git");

    @Test
    void everyCSourceIsFormatted() throws Exception {
        assumeTrue(Programs.isOnPath("clang-format"), "there is no clang-format: install clang-format");
        List<String> sources = sources();
        assertThat(sources)
                .anyMatch(name -> name.endsWith("search_body.h"))
                .anyMatch(name -> name.endsWith("faults.c"));
        List<String> command = new ArrayList<>(List.of("clang-format", "--dry-run", "-Werror"));
        command.addAll(sources);
        // What it prints names each line; `clang-format -i FILE` mends it.
        assertThat(Programs.run(command)).isEmpty();
    }

    private static List<String> sources() throws IOException {
        List<String> sources = new ArrayList<>();
        Files.walkFileTree(Programs.ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return NO_SOURCES.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = file.getFileName().toString();
                if (name.endsWith(".c") || name.endsWith(".h")) {
                    sources.add(file.toString());
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return sources;
    }
}
