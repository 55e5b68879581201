package io.github.roost.index.disk;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A change of one row.
 *
 * @param id external id
 * @param vector the row's from now on, in the table's space, or null to delete the row
 * @param done completed with whether there was a row of this id before, when the change is durable and searches see it
 */
record Update(long id, float @Nullable [] vector, CompletableFuture<Boolean> done) {
    static Update put(long id, float[] vector) {
        return new Update(id, vector, new CompletableFuture<>());
    }

    static Update remove(long id) {
        return new Update(id, null, new CompletableFuture<>());
    }
}
