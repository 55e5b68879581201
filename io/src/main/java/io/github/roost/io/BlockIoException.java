package io.github.roost.io;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a block could not be read or written. The message names the file, the block and the error. */
final class BlockIoException extends IOException {
    private static final long serialVersionUID = 1;

    /** The name of the file. */
    private final String file;

    /** The number of the block. */
    private final long block;

    BlockIoException(String operation, Path file, long block, String why) {
        super(operation + " of block " + block + " (byte " + block * BlockIo.BLOCK_BYTES + ") of " + file + " failed: "
                + why);
        this.file = file.toString();
        this.block = block;
    }

    static BlockIoException of(String operation, Path file, long block, Throwable cause) {
        String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        BlockIoException named = new BlockIoException(operation, file, block, why);
        named.initCause(cause);
        return named;
    }

    /** {@return the name of the file} */
    public String file() {
        return file;
    }

    /** {@return the number of the block, from 0} */
    public long block() {
        return block;
    }
}
