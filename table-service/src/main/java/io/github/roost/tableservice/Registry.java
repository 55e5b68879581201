package io.github.roost.tableservice;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Says which servers there are, and who coordinates. It knows nothing of versions. Implementations are thread-safe.
 */
public interface Registry extends AutoCloseable {
    /**
     * Says that a server is there, until the registration is closed or its process has ended.
     *
     * @param server its name; of no other server
     * @param address where it can be reached
     * @return ends it; again without effect
     */
    Registration register(String server, InetSocketAddress address);

    /**
     * The servers that there are.
     *
     * @return addresses by name
     */
    Map<String, InetSocketAddress> servers();

    /**
     * Tells of the servers that there are: now, and after each change.
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
    long takeCharge(String table);

    /** What ends when it is closed. */
    interface Registration extends AutoCloseable {
        @Override
        void close();
    }

    @Override
    void close();
}
