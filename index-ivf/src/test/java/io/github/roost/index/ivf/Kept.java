package io.github.roost.index.ivf;

/** What lists may keep of their rows. */
enum Kept {
    FLOATS,
    HALVES,
    BOTH,
    CODES;

    /** A builder of a table whose lists keep this. */
    IvfTable.Builder builder() {
        return IvfTable.builder()
                .elementType(
                        switch (this) {
                            case FLOATS -> ElementType.FLOAT32;
                            case HALVES -> ElementType.FLOAT16;
                            case BOTH, CODES -> ElementType.INT8;
                        })
                .keepFloats(this == BOTH);
    }
}
