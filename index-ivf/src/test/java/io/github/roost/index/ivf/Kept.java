package io.github.roost.index.ivf;

import io.github.roost.vector.ElementType;

/** What lists may keep of their rows. */
enum Kept {
    FLOATS,
    /** Floats, and codes that tell which of them to read. */
    CODED_FLOATS,
    HALVES,
    /** Codes, and floats that their best rows are compared with. */
    BOTH,
    CODES;

    /** A builder of a table whose lists keep this, and whose searches are divided though it is small. */
    IvfTable.Builder builder() {
        return IvfTable.builder()
                .elementType(
                        switch (this) {
                            case FLOATS, CODED_FLOATS -> ElementType.FLOAT32;
                            case HALVES -> ElementType.FLOAT16;
                            case BOTH, CODES -> ElementType.INT8;
                        })
                .codes(this == CODED_FLOATS)
                .minCoded(1)
                .apart()
                .keepFloats(this == BOTH);
    }

    /** Bytes of what a file says of the codes of so many lists, and of the buffer. */
    int codecBytes(int lists, int dimension) {
        return switch (this) {
            case FLOATS, HALVES -> 0;
            case CODED_FLOATS, BOTH, CODES -> (lists + 1) * (dimension * Float.BYTES + 2 * Double.BYTES);
        };
    }
}
