package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Scale;

/** hwloc's XML with an attribute, a line or a byte changed: refused by name, or a machine each of whose PUs is in one domain. */
@Tag("stress")
class FuzzedXmlTest {
    private static final Pattern NUMBER = Pattern.compile("(?<==\")(?:0x)?[0-9a-f]+(?=\")");
    private static final String[] VALUES = {"", "-1", "0", "7", "0xffffffff", "99999999999999999999", "x"};

    private static final String MACHINE = machine();

    private static String machine() {
        try (InputStream xml = FuzzedXmlTest.class.getResourceAsStream("awkward.xml")) {
            return new String(xml.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Property(tries = 300)
    void aFileIsRefusedOrAMachine(
            @ForAll @IntRange(min = 0, max = 2) int kind,
            @ForAll @DoubleRange(min = 0, max = .9999) @Scale(4) double place,
            @ForAll @IntRange(min = 0, max = 6) int value)
            throws IOException {
        String fuzzed = switch (kind) {
            case 0 -> withoutLine(MACHINE, place);
            case 1 -> withNumber(MACHINE, place, VALUES[value]);
            default -> withByte(MACHINE, place, (char) (' ' + 13 * value));
        };
        Path file = Files.createTempFile("machine-", ".xml");
        try {
            Files.writeString(file, fuzzed);
            Topology read = TopologyReader.xml(file).read();
            assertThat(read.domains()).isNotEmpty();
            assertThat(read.domains().stream()
                            .flatMap(domain -> domain.cores().stream())
                            .flatMap(core -> core.pus().stream()))
                    .doesNotHaveDuplicates()
                    .isNotEmpty();
        } catch (TopologyException refused) {
            assertThat(refused).hasMessageContaining(file.toString());
        } finally {
            Files.delete(file);
        }
    }

    private static String withoutLine(String xml, double place) {
        String[] lines = xml.split("\n");
        lines[(int) (place * lines.length)] = "";
        return String.join("\n", lines);
    }

    private static String withNumber(String xml, double place, String value) {
        long count = NUMBER.matcher(xml).results().count();
        Matcher numbers = NUMBER.matcher(xml);
        for (int i = 0; i <= (int) (place * count); i++) {
            numbers.find();
        }
        return xml.substring(0, numbers.start()) + value + xml.substring(numbers.end());
    }

    private static String withByte(String xml, double place, char value) {
        byte[] bytes = xml.getBytes(StandardCharsets.US_ASCII);
        bytes[(int) (place * bytes.length)] = (byte) value;
        return new String(bytes, StandardCharsets.US_ASCII);
    }
}
