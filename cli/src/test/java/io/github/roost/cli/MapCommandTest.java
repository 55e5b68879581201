package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MapCommandTest {
    @Test
    void theHottestAreEachPairedWithTheColdestAndOutputIsInInputOrder() {
        // By hand, mean 13.5: 9 -> 0 with 1 of id 60 (10), 7 -> 1 with 1 of id 10 (8), 5 -> 1 (13), 4 -> 0.
        CommandRun run = CommandRun.withInput("10 1\n20 9\n30 7\n40 5\n50 4\n60 1\n", "map", "--domains", 2);

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).isEqualTo("10 1\n20 0\n30 1\n40 1\n50 0\n60 0\n");
    }

    @Test
    void otherPoliciesAreToBeNamed() {
        String input = "1 10\n2 20\n3 30\n4 40\n5 50\n";
        // Mean 75. 50 -> 0 with 10, 40 -> 1 with 20, both hold 60: 30 -> 0.
        assertThat(CommandRun.withInput(input, "map", "--domains", 2).out()).isEqualTo("1 0\n2 1\n3 0\n4 1\n5 0\n");
        // 50 -> 0, 40 -> 1, 30 -> 1 (70), 20 -> 0 (70), 10 -> 0.
        assertThat(CommandRun.withInput(input, "map", "--domains", 2, "--policy", "longest-first")
                        .out())
                .isEqualTo("1 0\n2 0\n3 1\n4 1\n5 0\n");
        // An item hotter than a fair share has a home in each.
        assertThat(CommandRun.withInput("1 100\n2 1\n3 1\n", "map", "--domains", 2, "--policy", "staying")
                        .out()
                        .lines()
                        .findFirst()
                        .orElseThrow())
                .isIn("1 0,1", "1 1,0");
    }

    @Test
    void aPolicyThatThereIsNotIsNamed() {
        CommandRun run = CommandRun.withInput("1 1\n", "map", "--domains", 2, "--policy", "hot");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("--policy must be pairing, longest-first or staying, got \"hot\"");
        assertThat(CommandRun.withInput("1 1\n", "map", "--domains", 5_000, "--policy", "staying")
                        .err())
                .contains("--domains must be at most 4096 with --policy staying, got 5000");
    }

    @Test
    void equalTrafficGoesBySmallerIdWhateverTheInputOrder() {
        CommandRun run = CommandRun.withInput("10 5\n9 5\n100 5\n", "map", "--domains", 3);

        assertThat(run.out()).isEqualTo("10 1\n9 0\n100 2\n");
    }

    @Test
    void namesAreIdsInTheOrderOfTheirBytes() {
        assertThat(CommandRun.withInput("zürich 5\nbern 5\n-3 5\n010 5\n", "map", "--domains", 4)
                        .out())
                .isEqualTo("zürich 3\nbern 2\n-3 0\n010 1\n");
        assertThat(CommandRun.withInput("7 1\n9223372036854775808 2\n", "map", "--domains", 2)
                        .out())
                .isEqualTo("7 1\n9223372036854775808 0\n");
    }

    @Test
    void blanksTabsBlankLinesAndCarriageReturnsSeparate() {
        CommandRun run = CommandRun.withInput("\n  1\t3 \r\n\r\n2   0\r\n3 007", "map", "--domains", 2);

        assertThat(run.out()).isEqualTo("1 1\n2 0\n3 0\n");
    }

    @Test
    void noTrafficAtAllGoesToDomainZero() {
        assertThat(CommandRun.withInput("1 0\n2 0\n3 0\n", "map", "--domains", 2)
                        .out())
                .isEqualTo("1 0\n2 0\n3 0\n");
    }

    @Test
    void moreDomainsThanItemsAreFine() {
        assertThat(CommandRun.withInput("7 1\n", "map", "--domains", Integer.MAX_VALUE)
                        .out())
                .isEqualTo("7 0\n");
    }

    @Test
    void shuffledInputGivesEveryIdTheDomainThatTheAlgorithmGivesIt() {
        Random random = new Random(7);
        long[] traffic = random.longs(20_000, 0, 1_000).toArray();
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, traffic.length).boxed().toList());
        Collections.shuffle(order, random);
        String input = order.stream().map(id -> id + " " + traffic[id]).collect(Collectors.joining("\n"));
        Mapping homes = MappingPolicy.hotColdPairing().next(Mapping.of(12, new int[traffic.length]), traffic);

        assertThat(CommandRun.withInput(input, "map", "--domains", 12).out().lines())
                .containsExactlyElementsOf(
                        order.stream().map(id -> id + " " + homes.home(id, 0)).toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 2;3 | line 2 must be \"id traffic\", got no traffic after id 3",
                "1 2 3 | line 1 must be \"id traffic\", got \"3\" after it",
                "1 -2 | line 1 must have a non-negative integer as traffic, got \"-2\"",
                "1 2.5 | line 1 must have a non-negative integer as traffic, got \"2.5\"",
                "1 1e3 | line 1 must have a non-negative integer as traffic, got \"1e3\"",
                "a 2;b 3;a 4 | line 3 has id a again, after line 1",
                "a 2;b | line 2 must be \"id traffic\", got no traffic after id b",
                "1 2;;1 3 | line 3 has id 1 again, after line 1",
                "7 2;07 3 | line 2 has id 7 again, after line 1",
                "1 9223372036854775808 | line 1 must have a traffic of at most 9223372036854775807",
                "1 9223372036854775807;2 1 | line 2 brings the sum of all traffic above",
                "1 ٣ | line 1 must have a non-negative integer as traffic",
                "' ' | must hold at least one line",
            })
    void aWrongLineIsNamedAndNothingIsPrinted(String input, String fault) {
        CommandRun run = CommandRun.withInput(input.replace(';', '\n'), "map", "--domains", 2);

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines())
                .singleElement()
                .asString()
                .startsWith("roost: standard input")
                .contains(fault);
    }
}
