package io.github.roost.topology.system;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs one message per cause in the lifetime of the JVM. Thread-safe. */
public final class Warnings {
    private static final Logger LOG = LoggerFactory.getLogger("io.github.roost.topology");
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

    private Warnings() {}

    public static void once(String cause, String message) {
        if (SEEN.add(cause)) {
            LOG.warn(message);
        }
    }
}
