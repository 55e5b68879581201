package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A registry of the servers, of the announced version of each table, and of the coordinator in charge of it. It does not know which shards a server
 * has; answers carry that. Implementations are thread-safe. If the registry is in another process, each method throws an {@link
 * java.io.UncheckedIOException} if that process does not answer.
 */
public interface Registry extends AutoCloseable {
    /** {@return an empty registry for servers and clients of one process} */
    static Registry inMemory() {
        return new InMemoryRegistry();
    }

    /**
     * Registers a server, until the registration is closed or the server's process ends. If the process ends without closing it, the
     * registration expires after a while; then the name can be registered again.
     *
     * @param server the server's name, unique among servers
     * @param address the server's address
     * @return the registration; closing it is idempotent
     * @throws IllegalArgumentException if another server has the name
     */
    Registration register(String server, InetSocketAddress address);

    /**
     * The registered servers.
     *
     * @return addresses by name
     */
    Map<String, InetSocketAddress> servers();

    /**
     * Calls a listener with the registered servers: before this returns, and after each change. While the registry cannot be reached, the listener is
     * not called.
     *
     * @param listener receives the addresses of all servers by name; must return soon, and not throw
     * @return the registration of the listener; closing it is idempotent
     */
    Registration watch(Consumer<Map<String, InetSocketAddress>> listener);

    /**
     * Takes charge of the versions of a table, with a new term; the previous coordinator is not in charge any more.
     *
     * @param table the table's name
     * @return a term, higher than all previous terms
     */
    default long takeCharge(String table) {
        return takeCharge(table, 0);
    }

    /**
     * Takes charge of the versions of a table, if servers may know a term that this registry has lost.
     *
     * @param table the table's name
     * @param above a lower bound of the new term, 0 or more
     * @return a term, higher than {@code above} and all previous terms
     */
    long takeCharge(String table, long above);

    /**
     * The term of the coordinator in charge of a table.
     *
     * @param table the table's name
     * @return the term, 0 if no coordinator has taken charge
     */
    long termInCharge(String table);

    /**
     * The announced version of a table, which all servers are to load.
     *
     * @param table the table's name
     * @return the version, or empty if none was announced
     */
    Optional<Announced> announced(String table);

    /**
     * Announces a version by compare-and-set: of two concurrent announcements, one succeeds.
     *
     * @param table the table's name
     * @param term the term of the coordinator
     * @param before the expected announced version; 0 for none
     * @param next the version to announce
     * @return whether it was announced; false if the announced version is not {@code before}
     * @throws IllegalStateException if another term is in charge
     */
    boolean announce(String table, long term, long before, Announced next);

    /**
     * A version that servers are to load.
     *
     * @param version its number, 1 or more
     * @param shards its number of shards, from 1 to {@link Served#MAX_SHARDS}
     * @param content its {@linkplain Served#content content}, 0 before a server has loaded it
     */
    record Announced(long version, int shards, long content) {
        /**
         * Checks the arguments.
         *
         * @throws IllegalArgumentException if a number is out of range
         */
        public Announced {
            Vectors.requireRange("version", version, 1, Long.MAX_VALUE);
            Vectors.requireRange("shards", shards, 1, Served.MAX_SHARDS);
        }

        /**
         * A version that no server has loaded yet.
         *
         * @param version its number, 1 or more
         * @param shards its number of shards, from 1 to {@link Served#MAX_SHARDS}
         * @throws IllegalArgumentException if a number is out of range
         */
        public Announced(long version, int shards) {
            this(version, shards, 0);
        }
    }

    /** The registration of a server or a listener; closing it ends it. */
    interface Registration extends AutoCloseable {
        @Override
        void close();
    }

    @Override
    void close();
}
