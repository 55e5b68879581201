package io.github.roost.vector;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a file is not a saved table, or is damaged. The message names the file, the fault, and its byte offset. */
public final class TableFileException extends IOException {
    private static final long serialVersionUID = 1;

    /** The file's name. */
    private final String file;

    /** Byte offset of the fault. */
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
    public TableFileException(Path file, long at, String what) {
        this(file.toString(), at, what);
    }

    private TableFileException(String file, long at, String what) {
        super(file + " " + what + " (at byte " + at + ")");
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
    public TableFileException inPartAt(long begin) {
        TableFileException shifted = new TableFileException(file, begin + at, what);
        shifted.initCause(this);
        return shifted;
    }
}
