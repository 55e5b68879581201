package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * The result of a part.
 *
 * @param name of the part
 * @param line the command line that repeats it
 * @param commit on which it ran
 * @param seconds its duration
 * @param failure its error message, null if it succeeded
 * @param result its JSON, null if it failed
 */
public record PartResult(
        String name,
        String line,
        String commit,
        double seconds,
        @Nullable String failure,
        @Nullable JsonNode result) {
    /** Whether this is a successful result of the same command on the same commit. */
    boolean answers(RunPart part, String ofCommit) {
        return failure == null && line.equals(part.line()) && commit.equals(ofCommit);
    }
}
