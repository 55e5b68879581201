package io.github.roost.rows.service;

import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.CertificateUtils;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;

/** Certificates and keys in PEM files: nothing is used that is not whole. Stateless. */
final class PemFiles {
    private PemFiles() {}

    /** Reads the certificates of authorities. */
    static void read(Path trusted, AdvancedTlsX509TrustManager into) throws IOException, GeneralSecurityException {
        into.updateTrustCredentials(certificates(trusted));
    }

    /** Reads a certificate and its key, which may be written one after the other. */
    static void read(Path certificate, Path key, AdvancedTlsX509KeyManager into)
            throws IOException, GeneralSecurityException {
        X509Certificate[] chain = certificates(certificate);
        PrivateKey own;
        try (InputStream in = Files.newInputStream(key)) {
            own = CertificateUtils.getPrivateKey(in);
        }
        if (!fits(own, chain[0].getPublicKey())) {
            throw new GeneralSecurityException(key + " must be the key of the certificate in " + certificate);
        }
        into.updateIdentityCredentials(chain, own);
    }

    private static X509Certificate[] certificates(Path file) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            X509Certificate[] all = CertificateUtils.getX509Certificates(in);
            if (all.length == 0) {
                throw new GeneralSecurityException(file + " must have a certificate, has none");
            }
            return all;
        }
    }

    private static boolean fits(PrivateKey key, PublicKey certified) throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        byte[] message = {1, 2, 3};
        Signature signing = Signature.getInstance(algorithm);
        signing.initSign(key);
        signing.update(message);
        byte[] signed = signing.sign();
        Signature verifying = Signature.getInstance(algorithm);
        if (!certified.getAlgorithm().equals(key.getAlgorithm())) {
            return false;
        }
        verifying.initVerify(certified);
        verifying.update(message);
        return verifying.verify(signed);
    }
}
