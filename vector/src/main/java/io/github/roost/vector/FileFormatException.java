package io.github.roost.vector;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Thrown if a file of a table or of vectors is not of the expected format, or is damaged. The message names the file and the fault,
 * and in a table's file the byte offset of the fault.
 */
public final class FileFormatException extends IOException {
    private static final long serialVersionUID = 1;

    /** The file's name. */
    private final String file;

    /** Byte offset of the fault; 0 in a file of vectors. */
    private final long at;

    /** The fault. */
    private final String what;

    /**
     * Creates an exception.
     *
     * @param file the file
     * @param at byte offset of the fault
     * @param what the fault, as the end of a sentence that begins with the file's name
     */
    public FileFormatException(Path file, long at, String what) {
        this(file.toString(), at, what, " (at byte " + at + ")");
    }

    /**
     * Creates an exception for a file of vectors.
     *
     * @param file the file
     * @param what the fault, as the end of a sentence that begins with the file's name
     */
    public FileFormatException(Path file, String what) {
        this(file.toString(), 0, what, "");
    }

    private FileFormatException(String file, long at, String what, String place) {
        super(file + " " + what + place);
        this.file = file;
        this.at = at;
        this.what = what;
    }

    /**
     * Returns this exception for a table that is only a part of the file, with the offset counted from the start of the
     * file.
     *
     * @param begin byte offset of the part in the file
     * @return a new exception, caused by this one
     */
    public FileFormatException inPartAt(long begin) {
        FileFormatException shifted = new FileFormatException(Path.of(file), begin + at, what);
        shifted.initCause(this);
        return shifted;
    }
}
