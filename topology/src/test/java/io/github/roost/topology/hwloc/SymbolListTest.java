package io.github.roost.topology.hwloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SymbolListTest {
    private static final Path SYMBOLS = Path.of("src", "jextract", "symbols.txt");

    @Test
    void theCommittedSymbolListNamesEveryFunctionThatIsBound() throws IOException {
        List<String> functions = Files.readAllLines(SYMBOLS).stream()
                .filter(line -> line.startsWith("--include-function "))
                .map(line -> line.substring("--include-function ".length()))
                .toList();
        assertThat(functions).containsExactlyInAnyOrderElementsOf(HwlocBindings.FUNCTIONS.keySet());
    }
}
