package io.github.roost.index.hnsw;

import io.github.roost.vector.math.CodeRecall;
import java.util.Locale;

/** The form in which a graph stores vectors for searches to read. The distances in results are exact in every layout. */
public enum GraphLayout {
    /** The vector: 4 bytes per component. */
    FLOAT32,
    /**
     * SQ8 codes, one byte per component, and the vectors in a separate array: 5 bytes per component in all. A search computes
     * distances from codes, then reranks its best candidates by their vectors. Each row has a scale of its own, so an odd row costs
     * the others nothing; a graph whose codes would lose too much for other reasons is laid out as {@link #FLOAT32}.
     */
    INT8;

    /**
     * The layout of a table and the reason for it.
     *
     * @param layout the layout
     * @param reason the reason, as text for people
     */
    public record Choice(GraphLayout layout, String reason) {}

    /**
     * The choice where {@link #INT8} is wanted: {@link #FLOAT32} if codes would lose too much.
     *
     * @param codeRecall the {@link CodeRecall} of the rows
     * @return the choice
     */
    public static Choice byRecall(double codeRecall) {
        return codeRecall < CodeRecall.ENOUGH
                ? new Choice(
                        FLOAT32,
                        String.format(
                                Locale.ROOT,
                                "8-bit codes find %.3f of the neighbors in a sample, less than %s",
                                codeRecall,
                                CodeRecall.ENOUGH))
                : new Choice(INT8, "it was requested");
    }
}
