package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PemFilesTest {
    @TempDir
    private Path folder;

    @Test
    void aCertificateIsUsedOnlyWithItsKey() throws Exception {
        Pem own = Pem.of(folder, "own");
        Pem next = Pem.of(folder, "next");
        AdvancedTlsX509KeyManager identity = new AdvancedTlsX509KeyManager();
        PemFiles.read(own.certificate(), own.key(), identity);
        byte[] served = certificate(identity);

        assertThatThrownBy(() -> PemFiles.read(next.certificate(), own.key(), identity))
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining("must be the key of the certificate in");
        Path empty = Files.createFile(folder.resolve("empty.pem"));
        assertThatThrownBy(() -> PemFiles.read(empty, own.key(), identity))
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining("must have a certificate, has none");
        assertThat(certificate(identity)).isEqualTo(served);

        PemFiles.read(next.certificate(), next.key(), identity);
        assertThat(certificate(identity)).isNotEqualTo(served);
    }

    private static byte[] certificate(AdvancedTlsX509KeyManager identity) throws GeneralSecurityException {
        String alias = identity.chooseServerAlias("EC", null, null);
        return Objects.requireNonNull(identity.getCertificateChain(alias))[0].getEncoded();
    }

    @Test
    void anEmptyFileOfAuthoritiesTrustsNobodyNew() throws Exception {
        AdvancedTlsX509TrustManager authorities =
                AdvancedTlsX509TrustManager.newBuilder().build();
        PemFiles.read(Pem.of(folder, "own").certificate(), authorities);
        Path empty = Files.createFile(folder.resolve("empty.pem"));
        assertThatThrownBy(() -> PemFiles.read(empty, authorities))
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining("must have a certificate, has none");
        assertThat(authorities.getAcceptedIssuers()).hasSize(1);
        assertThatThrownBy(() -> PemFiles.read(folder.resolve("missing.pem"), authorities))
                .isInstanceOf(IOException.class);
    }
}
