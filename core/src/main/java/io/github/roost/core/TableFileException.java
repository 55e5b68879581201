package io.github.roost.core;

import java.io.IOException;
import java.nio.file.Path;

/** A file that holds no table, or a damaged one. The message names the file, the place in it, and what is wrong. */
public final class TableFileException extends IOException {
    private static final long serialVersionUID = 1;

    /** Its name. */
    private final String file;

    /** Byte offset of what is wrong. */
    private final long at;

    /** What is wrong. */
    private final String what;

    /**
     * Says what is wrong with a file, and where.
     *
     * @param file the file
     * @param at byte offset of what is wrong
     * @param what continues a sentence that begins with the file's name
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
     * The same fault, found in a table that is only a part of the file.
     *
     * @param begin byte offset at which the part begins
     * @return says where in the file the fault is
     */
    public TableFileException inPartAt(long begin) {
        TableFileException shifted = new TableFileException(file, begin + at, what);
        shifted.initCause(this);
        return shifted;
    }
}
