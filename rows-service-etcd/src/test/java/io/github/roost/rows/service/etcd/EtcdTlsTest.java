package io.github.roost.rows.service.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.rows.service.Pem;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.etcd.local.LocalEtcd;
import io.github.roost.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An etcd that speaks TLS only, and asks for certificates. */
@Tag("program")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway.Init")
class EtcdTlsTest {
    private static final EtcdRegistry.Options DEFAULT = EtcdRegistry.Options.DEFAULT.withLease(Duration.ofSeconds(2));

    @TempDir
    private Path folder;

    private Pem own;
    private Pem other;
    private URI endpoint;
    /** The same etcd, under an address that its certificate does not name. */
    private URI unnamed;

    private Process etcd;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(LocalEtcd.program().isPresent(), "needs etcd: apt-get install etcd-server");
        own = Pem.of(folder, "own");
        other = Pem.of(folder, "other");
        endpoint = URI.create("https://127.0.0.1:" + freePort());
        unnamed = URI.create("https://127.0.0.2:" + endpoint.getPort());
        String peer = "http://127.0.0.1:" + freePort();
        etcd = new ProcessBuilder(
                        LocalEtcd.program().orElseThrow().toString(),
                        "--name=roost",
                        "--data-dir=" + folder.resolve("data"),
                        "--listen-client-urls=" + endpoint + "," + unnamed,
                        "--advertise-client-urls=" + endpoint,
                        "--listen-peer-urls=" + peer,
                        "--initial-advertise-peer-urls=" + peer,
                        "--initial-cluster=roost=" + peer,
                        "--cert-file=" + own.certificate(),
                        "--key-file=" + own.key(),
                        "--client-cert-auth",
                        "--trusted-ca-file=" + own.certificate())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("etcd.log").toFile())
                .start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (etcd != null) {
            etcd.destroyForcibly().waitFor();
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Connects as soon as etcd has started. */
    private EtcdRegistry connectOnceStarted() throws Exception {
        EtcdRegistry.Tls tls = new EtcdRegistry.Tls(own.certificate(), own.certificate(), own.key());
        List<EtcdRegistry> made = new ArrayList<>();
        Await.until(() -> {
            try {
                return made.add(EtcdRegistry.connect(List.of(endpoint), DEFAULT.withTls(tls)));
            } catch (UncheckedIOException e) {
                assertThat(etcd.isAlive()).as(() -> e + ", etcd says: " + log()).isTrue();
                return false;
            }
        });
        return made.getFirst();
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("etcd.log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void onlyWhoTrustsEtcdAndIsTrustedByItConnects() throws Exception {
        try (EtcdRegistry registry = connectOnceStarted()) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7_070);
            try (Registry.Registration there = registry.register("a", address);
                    EtcdRegistry reader = EtcdRegistry.connect(
                            List.of(endpoint),
                            DEFAULT.withTls(new EtcdRegistry.Tls(own.certificate(), own.certificate(), own.key())))) {
                assertThat(there).isNotNull();
                assertThat(reader.servers()).containsExactly(Map.entry("a", address));
            }

            List<EtcdRegistry.Tls> strangers = List.of(
                    EtcdRegistry.Tls.DEFAULT,
                    new EtcdRegistry.Tls(own.certificate(), null, null),
                    new EtcdRegistry.Tls(own.certificate(), other.certificate(), other.key()),
                    new EtcdRegistry.Tls(other.certificate(), own.certificate(), own.key()));
            assertThat(strangers)
                    .allSatisfy(stranger -> assertThatThrownBy(
                                    () -> EtcdRegistry.connect(List.of(endpoint), DEFAULT.withTls(stranger)))
                            .isInstanceOf(UncheckedIOException.class)
                            .hasMessageContaining(endpoint.toString()));
            assertThatThrownBy(
                            () -> EtcdRegistry.connect(List.of(URI.create("http://127.0.0.1:" + endpoint.getPort()))))
                    .isInstanceOf(UncheckedIOException.class);
        }
    }

    @Test
    void aCertificateOfAnotherHostIsRefused() throws Exception {
        try (EtcdRegistry registry = connectOnceStarted()) {
            assertThat(registry.servers()).isEmpty();
            EtcdRegistry.Tls tls = new EtcdRegistry.Tls(own.certificate(), own.certificate(), own.key());
            assertThatThrownBy(() -> EtcdRegistry.connect(List.of(unnamed), DEFAULT.withTls(tls)))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasStackTraceContaining("127.0.0.2 found");
        }
    }

    @Test
    void filesThatAreMissingOrOfTheWrongKindAreNamed() throws Exception {
        Path missing = folder.resolve("missing.pem");
        assertThatThrownBy(() -> new EtcdRegistry.Tls(missing, null, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("trusted must be a readable PEM file, got " + missing);
        assertThatThrownBy(() -> new EtcdRegistry.Tls(null, own.certificate(), null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("certificate and key must be given together");
        assertThatThrownBy(() -> EtcdRegistry.connect(
                        List.of(endpoint), DEFAULT.withTls(new EtcdRegistry.Tls(null, own.key(), own.certificate()))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(own.key().toString());
        assertThatThrownBy(() -> EtcdRegistry.connect(
                        List.of(URI.create("http://127.0.0.1:1")),
                        DEFAULT.withTls(new EtcdRegistry.Tls(own.certificate(), null, null))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be https for TLS");
        assertThatThrownBy(() -> EtcdRegistry.connect(List.of(endpoint, URI.create("http://127.0.0.1:1"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("all http or all https");
    }
}
