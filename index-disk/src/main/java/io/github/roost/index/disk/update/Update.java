package io.github.roost.index.disk.update;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A change of one row.
 *
 * @param id external id
 * @param vector the row's new vector, in the table's space, or null to delete the row
 * @param done completed when the change is durable and visible to searches, by a thread that must not wait; a put says whether it is a
 *     new row, a removal whether there was one
 */
public record Update(long id, float @Nullable [] vector, CompletableFuture<Boolean> done) {
    /** A put that is not done. */
    public static Update put(long id, float[] vector) {
        return new Update(id, vector, new CompletableFuture<>());
    }

    /** A removal that is not done. */
    public static Update remove(long id) {
        return new Update(id, null, new CompletableFuture<>());
    }
}
