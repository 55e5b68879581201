package io.github.roost.bench.cachesim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.bench.cachesim.Section.L3;
import io.github.roost.simulator.options.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The modelled caches count known traces as theory has it, and a random one as cachegrind does. */
@Tag("program")
class CacheModelTest {
    private static final CacheModel MODEL = new CacheModel(32 << 10, 8, List.of(2L << 20, 8L << 20), 16, 64, 0);
    private static final int SMALL = 0;
    private static final int LARGE = 1;
    /** Lines of the stack and of the loader that the program reads too. */
    private static final long ITS_OWN = 100;

    private static @TempDir Path folder;
    private static Path traces;

    @BeforeAll
    static void compile() throws Exception {
        assumeTrue(Emulator.isThere(), "no qemu-x86_64 or no plugin: install qemu-user and gcc");
        traces = folder.resolve("traces");
        String source = Path.of("src/test/c/traces.c").toString();
        printed(List.of("cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", traces.toString(), source));
    }

    @Test
    void theFirstSweepMissesEachLineOnceAndLaterOnesNoneThatFits() throws Exception {
        List<Section> sections = sections("sweep", 1 << 20, "10");

        assertThat(sections.getFirst().sum(SMALL, L3::cold)).isBetween(16_384L, 16_384 + ITS_OWN);
        assertThat(sections.getFirst().sum(SMALL, L3::capacity)).isZero();
        assertThat(sections.getLast().sum(SMALL, L3::misses)).isZero();
        assertThat(sections.getLast().sum(SMALL, L3::hits)).isBetween(163_840L, 163_840 + ITS_OWN);
    }

    @Test
    void coldMissesAreExact() throws Exception {
        long one = sections("sweep", 1 << 20, "1").getFirst().sum(SMALL, L3::cold);
        long two = sections("sweep", 2 << 20, "1").getFirst().sum(SMALL, L3::cold);

        assertThat(two - one).isEqualTo(16_384);
    }

    @Test
    void sweepsOfWhatDoesNotFitAlwaysMiss() throws Exception {
        Section again = sections("sweep", 4 << 20, "10").getLast();

        assertThat(again.sum(SMALL, L3::capacity)).isBetween(655_360L, 655_360 + ITS_OWN);
        assertThat(again.sum(LARGE, L3::misses)).isZero();
    }

    @Test
    void twoTablesMissInOneCacheAndHitInTwo() throws Exception {
        Section together = sections("two", 3 << 19, "roost-w-0.1").getFirst();
        Section apart = sections("two", 3 << 19, "roost-w-1.0").getFirst();

        assertThat(together.sum(SMALL, L3::capacity)).isBetween(4 * 2 * 24_576L, 4 * 2 * 24_576 + ITS_OWN);
        assertThat(together.sum(LARGE, L3::misses)).isLessThan(ITS_OWN);
        assertThat(apart.sum(SMALL, L3::misses)).isLessThan(ITS_OWN);
        assertThat(apart.domains()).hasSize(2);
    }

    @Test
    void aLineThatAnotherDomainWroteIsACoherenceMissOnce() throws Exception {
        Section byAnother = sections("written", 16 << 10, "roost-w-1.0").getFirst();
        Section byNeighbor = sections("written", 16 << 10, "roost-w-0.1").getFirst();

        assertThat(byAnother.domains().getFirst().invalidated()).isBetween(256L, 256 + ITS_OWN / 10);
        assertThat(byAnother.domains().getFirst().l3().getFirst().coherence()).isBetween(256L, 256 + ITS_OWN / 10);
        assertThat(byNeighbor.domains().getFirst().invalidated()).isBetween(256L, 256 + ITS_OWN / 10);
        assertThat(byNeighbor.sum(SMALL, L3::misses)).isLessThan(ITS_OWN / 10);
    }

    @Test
    void randomReadsAndWritesMissAsOftenAsInCachegrind() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/valgrind")), "no valgrind: install valgrind");
        Section here = sections("random", 4 << 20, "2000000").getFirst();
        String there = printed(List.of(
                "valgrind",
                "--tool=cachegrind",
                "--cache-sim=yes",
                "--D1=32768,8,64",
                "--LL=2097152,16,64",
                "--cachegrind-out-file=" + folder.resolve("cachegrind"),
                traces.toString(),
                "random",
                Integer.toString(4 << 20),
                "2000000"));

        long misses = missesOf(there, "LLd misses");
        assertThat(here.sum(SMALL, L3::misses)).isCloseTo(misses, within(misses / 50));
        long privateMisses = missesOf(there, "D1  misses");
        assertThat(here.domains().getFirst().privateMisses()).isCloseTo(privateMisses, within(privateMisses / 50));
    }

    @Test
    void aCacheWhoseSetsAreNoPowerOfTwoIsRefused() throws Exception {
        CacheModel odd = new CacheModel(32 << 10, 8, List.of(3L << 20), 16, 64, 0);

        assertThatThrownBy(() -> new Emulator(folder).run(odd, List.of(traces.toString())))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("must be powers of two");
    }

    private static List<Section> sections(String trace, int bytes, String argument) throws Exception {
        return new Emulator(folder).run(MODEL, List.of(traces.toString(), trace, Integer.toString(bytes), argument));
    }

    private static long missesOf(String report, String what) {
        Matcher line = Pattern.compile(what + ": +([0-9,]+)").matcher(report);
        assertThat(line.find()).as(report).isTrue();
        return Long.parseLong(line.group(1).replace(",", ""));
    }

    private static String printed(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }
}
