package io.github.roost.tableservice;

import io.github.roost.core.Vectors;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Says which servers there are, which version of a table is to be served, and who coordinates. It knows nothing of what a server has:
 * that travels with answers. Implementations are thread-safe. Where they speak to another process, each method throws an
 * {@link java.io.UncheckedIOException} if that does not answer.
 */
public interface Registry extends AutoCloseable {
    /**
     * Says that a server is there, until the registration is closed or its process has ended. One that has ended without closing it
     * is forgotten after a while; the same name can be registered then.
     *
     * @param server its name; of no other server
     * @param address where it can be reached
     * @return ends it; again without effect
     * @throws IllegalArgumentException if there is a server of that name
     */
    Registration register(String server, InetSocketAddress address);

    /**
     * The servers that there are.
     *
     * @return addresses by name
     */
    Map<String, InetSocketAddress> servers();

    /**
     * Tells of the servers that there are: before this returns, and after each change. While the registry cannot be reached, what was told last
     * stands.
     *
     * @param listener is given all of them; must return soon, and not throw
     * @return ends it; again without effect
     */
    Registration watch(Consumer<Map<String, InetSocketAddress>> listener);

    /**
     * Takes charge of the versions of a table. Who was in charge is so no longer.
     *
     * @param table its name
     * @return a term, higher than all before
     */
    default long takeCharge(String table) {
        return takeCharge(table, 0);
    }

    /**
     * Takes charge of the versions of a table, where servers may know of a term that this registry has lost.
     *
     * @param table its name
     * @param above a term that the new one must be higher than, 0 or more
     * @return a term, higher than that and all before
     */
    long takeCharge(String table, long above);

    /**
     * The term of who is in charge of a table.
     *
     * @param table its name
     * @return the term, 0 if nobody has been
     */
    long termInCharge(String table);

    /**
     * The version that all servers are to have.
     *
     * @param table its name
     * @return the version, if one was announced
     */
    Optional<Announced> announced(String table);

    /**
     * Announces a version that all servers are to have, if the one that is announced now is as expected: of two that announce at
     * once, one does.
     *
     * @param table its name
     * @param term of who announces it
     * @param before the version that is announced now; 0 for none
     * @param next what is to be announced
     * @return whether it is; if not, another version is announced than {@code before}
     * @throws IllegalStateException if another term is in charge
     */
    boolean announce(String table, long term, long before, Announced next);

    /**
     * A version that servers are to have.
     *
     * @param version its number, 1 or more
     * @param shards into how many its keys are divided, from 1 to {@link Served#MAX_SHARDS}
     */
    record Announced(long version, int shards) {
        /**
         * A version.
         *
         * @throws IllegalArgumentException if a number is out of range
         */
        public Announced {
            Vectors.requireRange("version", version, 1, Long.MAX_VALUE);
            Vectors.requireRange("shards", shards, 1, Served.MAX_SHARDS);
        }
    }

    /** What ends when it is closed. */
    interface Registration extends AutoCloseable {
        @Override
        void close();
    }

    @Override
    void close();
}
