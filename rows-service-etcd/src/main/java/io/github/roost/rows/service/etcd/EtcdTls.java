package io.github.roost.rows.service.etcd;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a connection to etcd over TLS is secured. All files are in PEM format, and are read whenever a connection is made. Immutable.
 *
 * @param trusted certificates of the authorities that etcd's certificate is checked against; null for those of the JDK
 * @param certificate this process's certificate, for an etcd that asks for one ({@code --client-cert-auth}); null for none
 * @param key the private key of the certificate, in PKCS #8 format and not encrypted; null if there is no certificate
 */
public record EtcdTls(
        @Nullable Path trusted,
        @Nullable Path certificate,
        @Nullable Path key) {
    /** Checks etcd's certificate against the JDK's authorities, and has no certificate of its own. */
    public static final EtcdTls DEFAULT = new EtcdTls(null, null, null);

    /**
     * Checks the arguments.
     *
     * @throws IllegalArgumentException if only one of certificate and key is given, or a file cannot be read
     */
    public EtcdTls {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("certificate and key must be given together, got one of them");
        }
        requireReadable("trusted", trusted);
        requireReadable("certificate", certificate);
        requireReadable("key", key);
    }

    private static void requireReadable(String name, @Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            throw new IllegalArgumentException(name + " must be a readable PEM file, got " + file);
        }
    }
}
