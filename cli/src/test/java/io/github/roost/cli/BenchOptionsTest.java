package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class BenchOptionsTest {
    /** Options that mean something else in one benchmark than in the others. */
    private static final Map<String, String> VARIOUS = Map.of(
            "--data String", "of bench refresh only vectors of texts, mixtures and files",
            "--in-flight int", "of bench replay the default is 8 per core, and sim has the option too",
            "--peer all|none", "of bench all of every part, of bench rivals its own",
            "--quick boolean", "of bench all small workloads, of bench jmh short runs",
            "--seconds int", "of bench live the time of the whole load, not of one measurement",
            "--tables int", "of bench serve the number of Debian's sections, not of equal tables");

    @Test
    void noOptionIsDeclaredTwice() {
        CommandLine roost = RoostCommand.commandLine(new Streams(System.in, System.out, System.err, false));
        Map<String, Set<String>> declared = new TreeMap<>();
        Objects.requireNonNull(roost.getSubcommands().get("bench")).getSubcommands().values().stream()
                .flatMap(bench -> bench.getCommandSpec().options().stream())
                .filter(option -> !option.isMultiValue())
                .forEach(option -> declared.computeIfAbsent(nameAndType(option), none -> new TreeSet<>())
                        .add(declaration(option)));
        declared.values().removeIf(once -> once.size() == 1);
        assertThat(declared)
                .containsOnlyKeys(VARIOUS.keySet())
                .allSatisfy((option, twice) -> assertThat(twice).hasSize(2));
    }

    /** The values of an enum are its label. */
    private static String nameAndType(OptionSpec option) {
        Class<?> type = option.type();
        return option.longestName() + " " + (type.isEnum() ? option.paramLabel() : type.getSimpleName());
    }

    /** The class of the option's field; the number options, which have no field, differ in their descriptions. */
    private static String declaration(OptionSpec option) {
        return option.userObject() instanceof Field field
                ? field.getDeclaringClass().getName()
                : option.description()[0].replaceFirst("; default .*", "");
    }

    @ParameterizedTest
    @CsvSource({
        "bench gate --rounds 0, --rounds must be between 1 and 10000",
        "bench gate --only x, --only",
        "bench gate --flood-machine 1x8, a made-up machine must have at least 2 domains",
        "bench gate --staying-machine 8, 'a made-up machine must be DOMAINSxWORKERS, such as 12x8, got 8'",
        "bench remap --ids 200000, --ids must be between 1 and 131000",
        "bench remap --level X, --level",
        "bench locality --table-kib 0, --table-kib must be between 1 and 1000000",
        "bench scheduling --submitters 0, --submitters must be between 1 and 1024",
        "bench scheduling --task-micros -1, --task-micros must be between 0 and 100000",
        "bench scheduling --only x, --only",
        "bench ivf --nlist 4 --nprobe 5 --peer none, --nprobe must be between 1 and 4",
        "bench ivf --k 0 --peer none, --k must be between 1 and 10000",
        "bench fan-out --nprobe 257, --nprobe must be between 1 and 256",
        "bench freshness --adds-per-second 0, --adds-per-second must be between 1 and 1000000",
        "bench live --clients 0, --clients must be between 1 and 1000",
        "bench filters --rows 10, --rows must be between 10000 and 10000000",
        "bench build --load 100, --load must be between 1 and 99",
        "bench first-seconds --seconds 1, --seconds must be between 2 and 600",
        "bench first-seconds --table /no/such/table, /no/such/table",
        "bench lucene --clients 0, --clients must be between 1 and 4096",
        "bench lucene --workload x, --workload",
        "bench stores --texts 9, '--texts must be between 10 and 1000000, got 9'",
        "bench table --bits 9, --bits must be between 10 and 26",
        "bench table --rounds 0, --rounds must be between 1 and 10000",
        "bench io --depth 0, '--depth must be between 1 and 128, got 0'",
        "bench io --folder /no/such/folder, /no/such/folder",
        "bench remote --partitions 0, --partitions must be between 1 and 10000",
        "bench remote --visited 161, --visited must be between 1 and 160",
        "bench remote --provider file, '--provider must be mapped or ucx, got file'",
        "bench remote --transports tcp, '--transports must be left out without --provider ucx, got tcp'",
        "memory-node /no/such/pool --listen 127.0.0.1:1, '--listen must be ucx://HOST:PORT, got 127.0.0.1:1'",
        "memory-node /no/such/pool --term-millis 1, --term-millis must be between 20 and 3600000",
        "memory-node /no/such/pool, /no/such/pool",
        "bench stalls --rows 1, '--rows must be between 1000 and 100000000, got 1'",
        "bench disk --degree 100 --peer none, '--degree must be between 4 and 64, got 100'",
        "bench disk --k 20 --width 10 --peer none, '--width must be between 20 and 10000, got 10'",
        "bench stalls --target 0, '--target must be between 1 and 100, got 0'",
        "bench stalls --rows 1000 --folder /no/such/folder, /no/such/folder",
        "bench, no benchmark given",
    })
    void badOptionsAreNamedBeforeAnythingRuns(String line, String message) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));
        assertThat(run.status()).isNotZero();
        assertThat(run.err()).contains(message).doesNotContain("\tat ");
        assertThat(run.out()).isEmpty();
    }
}
