package io.github.roost.vector.file;

import io.github.roost.vector.FileFormatException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Checks of the values that are read from a table's file. A failed check throws a {@link FileFormatException} that names the file, the byte
 * offset, and the found and expected values. Immutable.
 *
 * @param file the file, named in messages
 */
public record FileChecks(Path file) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * Returns an exception for a fault of the file.
     *
     * @param at byte offset of the fault
     * @param what the fault, as the end of a sentence that begins with the file's name
     * @return the exception, to be thrown by the caller
     */
    public FileFormatException fault(long at, String what) {
        return new FileFormatException(file, at, what);
    }

    /**
     * Requires that the file, if it exists, is a regular one: opening a named pipe waits for a writer.
     *
     * @throws FileFormatException if it is a folder, a named pipe or a device
     */
    public void requireRegular() throws FileFormatException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            String kind = Files.isDirectory(file) ? "a folder" : "a named pipe or a device";
            throw fault(0, "is " + kind + ", not a saved table");
        }
    }

    /**
     * Requires that a file is at least as long as its header.
     *
     * @param bytes the length of the file
     * @param min the minimum length
     * @param of names the header in the message, such as "a table's head of 64"
     * @throws FileFormatException if the file is shorter
     */
    public void requireHead(long bytes, long min, String of) throws FileFormatException {
        if (bytes < min) {
            throw fault(0, "is " + bytes + " bytes long, less than " + of);
        }
    }

    /**
     * Requires a known version.
     *
     * @param at byte offset of the version
     * @param found the version in the file
     * @param known the versions that the reader supports
     * @throws FileFormatException if {@code found} is not one of {@code known}
     */
    public void requireVersion(long at, int found, int... known) throws FileFormatException {
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
     * @param what names the number in the message
     * @param value the number
     * @param min the minimum
     * @param max the maximum
     * @return the number
     * @throws FileFormatException if the number is not in the range
     */
    public long requireRange(long at, String what, long value, long min, long max) throws FileFormatException {
        if (value < min || value > max) {
            String range = min == max ? "it must be " + min : "it must be between " + min + " and " + max;
            throw fault(at, "has a " + what + " of " + value + ", " + range);
        }
        return value;
    }

    /**
     * Like {@link #requireRange(long, String, long, long, long)} for ints.
     *
     * @param at byte offset of the number
     * @param what names the number in the message
     * @param value the number
     * @param min the minimum
     * @param max the maximum
     * @return the number
     * @throws FileFormatException if the number is not in the range
     */
    public int requireRange(long at, String what, int value, int min, int max) throws FileFormatException {
        return (int) requireRange(at, what, (long) value, min, max);
    }

    /**
     * Requires that a number has the value given by other numbers of the file.
     *
     * @param at byte offset of the number
     * @param what names the number in the message
     * @param value the number
     * @param expected the required value
     * @throws FileFormatException if the number is not {@code expected}
     */
    public void requireEqual(long at, String what, long value, long expected) throws FileFormatException {
        requireRange(at, what, value, expected, expected);
    }

    /**
     * Requires a finite number: NaN or infinity would make distances NaN, and searches would miss rows.
     *
     * @param at byte offset of the number
     * @param what names the number in the message
     * @param value the number
     * @param min the minimum
     * @return the number
     * @throws FileFormatException if the number is less than {@code min}, infinite or NaN
     */
    public double requireFinite(long at, String what, double value, double min) throws FileFormatException {
        if (!(value >= min && value < Double.POSITIVE_INFINITY)) {
            throw fault(at, "has a " + what + " of " + value + ", it must be a number and at least " + min);
        }
        return value;
    }

    /**
     * Like {@link #requireFinite(long, String, double, double)} for floats.
     *
     * @param at byte offset of the number
     * @param what names the number in the message
     * @param value the number
     * @param min the minimum
     * @return the number
     * @throws FileFormatException if the number is less than {@code min}, infinite or NaN
     */
    public float requireFinite(long at, String what, float value, float min) throws FileFormatException {
        if (!(value >= min && value < Float.POSITIVE_INFINITY)) {
            throw fault(at, "has a " + what + " of " + value + ", it must be a number and at least " + min);
        }
        return value;
    }

    /**
     * Requires that bytes have the checksum stored in the file.
     *
     * @param at byte offset for the message
     * @param which names the checksum in the message, such as "its checksum"
     * @param said the checksum stored in the file
     * @param bytes the bytes that it covers
     * @throws FileFormatException if the checksums differ
     */
    public void requireChecksum(long at, String which, long said, MemorySegment bytes) throws FileFormatException {
        long found = Integer.toUnsignedLong(Checksum.of(bytes));
        if (said != found) {
            throw fault(at, "is damaged: %s is %08x, the checksum of its bytes is %08x".formatted(which, said, found));
        }
    }

    /**
     * Requires that a section written by {@link SectionWriter} is undamaged.
     *
     * @param at byte offset of the section
     * @param which names the checksum in the message, such as "its checksum"
     * @param section the content and checksum of the section, without padding
     * @return the content, a slice of {@code section}
     * @throws FileFormatException if the section is damaged
     */
    public MemorySegment requireSection(long at, String which, MemorySegment section) throws FileFormatException {
        long end = section.byteSize() - SectionWriter.CHECKSUM_BYTES;
        MemorySegment content = section.asSlice(0, end);
        requireChecksum(at + end, which, section.get(LONG, end), content);
        return content;
    }
}
