package io.github.roost.bench.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LineCountsTest {
    @ParameterizedTest
    @ValueSource(ints = {18, 20})
    void placementsTouchThePapersNumbersOfLines(int slotBits) {
        Map<String, Double> lines = LineCounts.of(slotBits, slotBits).stream()
                .collect(Collectors.toMap(LineCounts.Count::placement, LineCounts.Count::lines));
        assertThat(lines.get("NeighborHashMap")).isCloseTo(1.140, within(.005));
        assertThat(lines.get("linear probing")).isCloseTo(1.468, within(.015));
        assertThat(lines.get("lodger relocation, one direction")).isCloseTo(1.244, within(.005));
        // Knuth's 1 + load / 2 slots of a chain of its own, hardly two of which share a line.
        assertThat(lines.get("perfect cellar")).isCloseTo(1.395, within(.005));
        // Vitter's 1 + (e^2a - 1 - 2a) / 8a + a / 4 slots at a load of a.
        assertThat(lines.get("coalesced hashing")).isCloseTo(1.558, within(.01));
    }
}
