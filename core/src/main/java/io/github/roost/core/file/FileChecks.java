package io.github.roost.core.file;

import io.github.roost.core.TableFileException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * What a reader of a table's file requires of it. Each refusal is a {@link TableFileException} that names the file, the place, the
 * value found there and what was expected. Immutable.
 *
 * @param file named in messages
 */
public record FileChecks(Path file) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * Returns a refusal.
     *
     * @param at byte offset of what is wrong
     * @param what continues a sentence that begins with the file's name
     * @return to throw
     */
    public TableFileException fault(long at, String what) {
        return new TableFileException(file, at, what);
    }

    /**
     * Requires that a file is long enough for its head.
     *
     * @param bytes length of the file
     * @param least length of a file without content
     * @param of what a head is of, such as "a table's head of 64"
     * @throws TableFileException if it is shorter
     */
    public void requireHead(long bytes, long least, String of) throws TableFileException {
        if (bytes < least) {
            throw fault(0, "is " + bytes + " bytes long, less than " + of);
        }
    }

    /**
     * Requires a version that the reader knows.
     *
     * @param at byte offset of the version
     * @param found the version there
     * @param known versions that are read
     * @throws TableFileException if it is none of these
     */
    public void requireVersion(long at, int found, int... known) throws TableFileException {
        if (Arrays.stream(known).noneMatch(version -> version == found)) {
            throw fault(
                    at,
                    "is of version " + found + ", this library reads "
                            + Arrays.stream(known).mapToObj(String::valueOf).collect(Collectors.joining(" and ")));
        }
    }

    /**
     * Requires that a number is in a range.
     *
     * @param at byte offset of the number
     * @param what names it
     * @param value the number
     * @param least allowed
     * @param most allowed
     * @return the number
     * @throws TableFileException if it is not
     */
    public long requireRange(long at, String what, long value, long least, long most) throws TableFileException {
        if (value < least || value > most) {
            String range = least == most ? "it must be " + least : "it must be between " + least + " and " + most;
            throw fault(at, "has a " + what + " of " + value + ", " + range);
        }
        return value;
    }

    /**
     * As {@link #requireRange(long, String, long, long, long)}.
     *
     * @param at byte offset of the number
     * @param what names it
     * @param value the number
     * @param least allowed
     * @param most allowed
     * @return the number
     * @throws TableFileException if it is not in the range
     */
    public int requireRange(long at, String what, int value, int least, int most) throws TableFileException {
        return (int) requireRange(at, what, (long) value, least, most);
    }

    /**
     * Requires a number to be what other numbers of the file say.
     *
     * @param at byte offset of the number
     * @param what names it
     * @param value the number
     * @param expected what it must be
     * @throws TableFileException if it is another
     */
    public void requireEqual(long at, String what, long value, long expected) throws TableFileException {
        requireRange(at, what, value, expected, expected);
    }

    /**
     * Requires a finite number: with others no distance would be a number, and rows would be missing from answers.
     *
     * @param at byte offset of the number
     * @param what names it
     * @param value the number
     * @param least allowed
     * @return the number
     * @throws TableFileException if it is less, infinite or NaN
     */
    public double requireFinite(long at, String what, double value, double least) throws TableFileException {
        if (!(value >= least && value < Double.POSITIVE_INFINITY)) {
            throw fault(at, "has a " + what + " of " + value + ", it must be a number of at least " + least);
        }
        return value;
    }

    /**
     * As {@link #requireFinite(long, String, double, double)}.
     *
     * @param at byte offset of the number
     * @param what names it
     * @param value the number
     * @param least allowed
     * @return the number
     * @throws TableFileException if it is less, infinite or NaN
     */
    public float requireFinite(long at, String what, float value, float least) throws TableFileException {
        if (!(value >= least && value < Float.POSITIVE_INFINITY)) {
            throw fault(at, "has a " + what + " of " + value + ", it must be a number of at least " + least);
        }
        return value;
    }

    /**
     * Requires bytes to have the checksum that the file says they have.
     *
     * @param at byte offset named in the refusal
     * @param which names it, such as "its checksum"
     * @param said the checksum in the file
     * @param bytes it is said of
     * @throws TableFileException if they have another
     */
    public void requireChecksum(long at, String which, long said, MemorySegment bytes) throws TableFileException {
        long found = Integer.toUnsignedLong(Checksum.of(bytes));
        if (said != found) {
            throw fault(at, "is damaged: %s is %08x, that of its bytes %08x".formatted(which, said, found));
        }
    }

    /**
     * Requires a section, as {@link SectionWriter} writes it, to be undamaged.
     *
     * @param at byte offset of the section
     * @param which names its checksum, such as "its checksum"
     * @param section its content and checksum, without the zeroes after them
     * @return the content
     * @throws TableFileException if the section is damaged
     */
    public MemorySegment requireSection(long at, String which, MemorySegment section) throws TableFileException {
        long end = section.byteSize() - SectionWriter.CHECKSUM_BYTES;
        MemorySegment content = section.asSlice(0, end);
        requireChecksum(at + end, which, section.get(LONG, end), content);
        return content;
    }
}
