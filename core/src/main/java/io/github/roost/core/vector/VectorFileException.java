package io.github.roost.core.vector;

import java.io.IOException;
import java.nio.file.Path;

/** A file of vectors is not what its name or caller says; the message names the file and what is wrong with it. */
public final class VectorFileException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Refuses a file.
     *
     * @param file which
     * @param wrong what is wrong with it, as the end of a sentence that begins with the file's name
     */
    public VectorFileException(Path file, String wrong) {
        super(file + " " + wrong);
    }
}
