package io.github.roost.core;

import java.io.IOException;
import java.nio.file.Path;

/** A file that holds no table, or a damaged one. The message names the file, the place in it, and what is wrong. */
public final class TableFileException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Says what is wrong with a file, and where.
     *
     * @param file the file
     * @param at byte offset of what is wrong
     * @param what continues a sentence that begins with the file's name
     */
    public TableFileException(Path file, long at, String what) {
        super(file + " " + what + " (at byte " + at + ")");
    }
}
