package io.github.roost.index.ivf;

/** What lists may keep of their rows. */
enum Kept {
    FLOATS,
    BOTH,
    CODES;

    /** A builder of a table whose lists keep this. */
    IvfTable.Builder builder() {
        return IvfTable.builder()
                .elementType(this == FLOATS ? ElementType.FLOAT32 : ElementType.INT8)
                .keepFloats(this == BOTH);
    }
}
