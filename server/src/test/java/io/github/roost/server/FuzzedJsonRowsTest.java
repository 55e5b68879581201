package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Lines that nearly fit, and bytes that are no text: read, with a row of each line, or refused by file and line. */
@Tag("stress")
@SuppressWarnings("NullAway.Init")
class FuzzedJsonRowsTest {
    private static Path file;

    @BeforeContainer
    static void make() throws IOException {
        file = Files.createTempFile("roost-fuzzed-", ".jsonl");
    }

    @AfterContainer
    static void delete() throws IOException {
        Files.delete(file);
    }

    @Provide
    static Arbitrary<String> lines() {
        Arbitrary<String> values = Arbitraries.oneOf(
                Arbitraries.of(
                        "null",
                        "true",
                        "-1",
                        "1e400",
                        "1e-400",
                        "9223372036854775808",
                        "1".repeat(1_100),
                        "1e999999999",
                        "NaN",
                        "\"\\ud800\"",
                        "[]",
                        "[[]]",
                        "[1,2,null]",
                        "[1,2,1e39]",
                        "[".repeat(1_200),
                        "{}",
                        "{\"name\":{}}",
                        "{\"name\":\"a\",\"name\":\"b\"}",
                        "{"),
                Arbitraries.longs().map(String::valueOf),
                Arbitraries.strings().ofMaxLength(6));
        Arbitrary<String> field = Combinators.combine(Arbitraries.of("id", "vector", "attributes", "other"), values)
                .as((name, value) -> "\"" + name + "\":" + value);
        Arbitrary<String> broken = field.list().ofMaxSize(4).map(fields -> "{" + String.join(",", fields) + "}");
        Arbitrary<String> good = Arbitraries.longs()
                .map(id -> "{\"id\":" + id + ",\"vector\":[1,2.5,-3e-2],\"attributes\":{\"name\":\"a\",\"x\":[1]}}");
        Arbitrary<String> twice = good.map(line -> line + line);
        return Arbitraries.oneOf(broken, good, good, good, values, twice);
    }

    @Property(tries = 1_000)
    void linesAreReadOrRefused(@ForAll("lines") String one, @ForAll("lines") String other, @ForAll boolean isCrLf)
            throws IOException {
        Files.writeString(file, one + (isCrLf ? "\r\n" : "\n") + other);
        int lines = (int)
                (one + "\n" + other).lines().filter(line -> !line.isBlank()).count();
        readOrRefused(lines);
    }

    @Property(tries = 300)
    void bytesThatAreNoTextAreRefused(@ForAll byte[] bytes) throws IOException {
        byte[] line = "{\"id\":1,\"vector\":[1]}\n".getBytes(StandardCharsets.UTF_8);
        byte[] all = Arrays.copyOf(line, line.length + bytes.length);
        System.arraycopy(bytes, 0, all, line.length, bytes.length);
        Files.write(file, all);
        readOrRefused(-1);
    }

    private static void readOrRefused(int lines) {
        try {
            JsonRows rows = JsonRows.read(file);
            if (lines >= 0) {
                assertThat(rows.items()).hasSize(lines);
            }
            assertThat(rows.rows().vectors().size()).isEqualTo(rows.items().size());
        } catch (IOException refused) {
            assertThat(refused).hasMessageStartingWith(file.toString());
        }
    }

    @Example
    void whatIsNoTextIsNamed() throws IOException {
        Files.write(file, new byte[] {'{', '}', '\n', (byte) 0xff});
        assertThatThrownBy(() -> JsonRows.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file.toString());
    }

    @Example
    void aSecondRowOnALineIsRefused() throws IOException {
        String row = "{\"id\":1,\"vector\":[1]}";
        for (String more : List.of(row, " {\"id\":2,\"vector\":[1]}", "]", " x")) {
            Files.writeString(file, row + more);
            assertThatThrownBy(() -> JsonRows.read(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith(file + ", line 1 must be a JSON object");
        }
    }
}
