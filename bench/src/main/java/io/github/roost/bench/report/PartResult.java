package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * What became of a part.
 *
 * @param name of the part
 * @param line what a person types to repeat it
 * @param commit that it ran on
 * @param seconds that it took
 * @param failure what it said when it failed, null if it did not
 * @param result its JSON, null if it failed
 */
public record PartResult(
        String name,
        String line,
        String commit,
        double seconds,
        @Nullable String failure,
        @Nullable JsonNode result) {
    /** Whether this is the result of the same command on the same commit. */
    boolean answers(Part part, String ofCommit) {
        return failure == null && line.equals(part.line()) && commit.equals(ofCommit);
    }
}
