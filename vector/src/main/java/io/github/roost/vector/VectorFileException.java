package io.github.roost.vector;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a file of vectors is invalid or not of the expected format. The message names the file and the fault. */
public final class VectorFileException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param file the invalid file
     * @param wrong the fault, as the end of a sentence that begins with the file's name
     */
    public VectorFileException(Path file, String wrong) {
        super(file + " " + wrong);
    }
}
