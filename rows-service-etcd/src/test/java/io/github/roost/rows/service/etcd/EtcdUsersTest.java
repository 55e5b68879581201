package io.github.roost.rows.service.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.options.OptionsUtil;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.RegistryContract;
import io.github.roost.rows.service.etcd.local.LocalEtcd;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract, in an etcd with authentication, for a user whose rights end with its prefix. */
@Tag("program")
@SuppressWarnings("NullAway.Init")
class EtcdUsersTest extends RegistryContract {
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_711);
    private static final EtcdRegistry.Options PLAIN = EtcdRegistry.Options.DEFAULT.withLease(Duration.ofSeconds(2));
    private static final EtcdRegistry.Options TEAM =
            PLAIN.withUser(new EtcdRegistry.User("team", "of-the-team")).withPrefix("/teams/a");

    @TempDir
    private Path folder;

    private LocalEtcd etcd;
    private List<URI> endpoints;
    private EtcdRegistry one;
    private EtcdRegistry other;

    @BeforeAll
    static void requireEtcd() {
        assumeTrue(LocalEtcd.program().isPresent(), "needs etcd: apt-get install etcd-server");
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    @BeforeEach
    void start() throws Exception {
        etcd = LocalEtcd.start(folder.resolve("etcd"));
        endpoints = List.of(etcd.endpoint());
        try (Client root = Client.builder().endpoints(endpoints).build()) {
            Auth auth = root.getAuthClient();
            auth.userAdd(bytes("root"), bytes("of-root")).get();
            auth.roleAdd(bytes("root")).get();
            auth.userGrantRole(bytes("root"), bytes("root")).get();
            auth.userAdd(bytes("team"), bytes("of-the-team")).get();
            auth.roleAdd(bytes("team")).get();
            ByteSequence prefix = bytes("/teams/a");
            auth.roleGrantPermission(bytes("team"), prefix, OptionsUtil.prefixEndOf(prefix), Permission.Type.READWRITE)
                    .get();
            auth.userGrantRole(bytes("team"), bytes("team")).get();
            auth.authEnable().get();
        }
        one = EtcdRegistry.connect(endpoints, TEAM);
        other = EtcdRegistry.connect(endpoints, TEAM);
    }

    @AfterEach
    void stop() {
        one.close();
        other.close();
        etcd.close();
    }

    @Override
    protected Registry one() {
        return one;
    }

    @Override
    protected Registry other() {
        return other;
    }

    @Test
    void whoIsNotTheUserOrLeavesThePrefixIsRefused() {
        for (EtcdRegistry.Options wrong : List.of(
                PLAIN.withPrefix("/teams/a"),
                TEAM.withUser(new EtcdRegistry.User("team", "guessed")),
                TEAM.withUser(new EtcdRegistry.User("nobody", "of-the-team")),
                TEAM.withPrefix(""),
                TEAM.withPrefix("/teams/b"))) {
            assertThatThrownBy(() -> EtcdRegistry.connect(endpoints, wrong))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining(endpoints.getFirst().toString());
        }
        assertThat(TEAM.toString()).doesNotContain("of-the-team");
    }

    @Test
    void prefixesDoNotSeeEachOther() throws Exception {
        EtcdRegistry.Options root = PLAIN.withUser(new EtcdRegistry.User("root", "of-root"));
        try (EtcdRegistry another = EtcdRegistry.connect(endpoints, root.withPrefix("/teams/b"));
                Registry.Registration ofOne = one.register("a", HERE)) {
            assertThat(ofOne).isNotNull();
            assertThat(other.servers()).containsExactly(Map.entry("a", HERE));
            assertThat(another.servers()).isEmpty();
            assertThat(one.takeCharge("items")).isEqualTo(1);
            assertThat(another.termInCharge("items")).isZero();
        }
    }

    @Test
    void aPasswordGoesOnlyToLoopbackWithoutTls() {
        assertThatThrownBy(() -> EtcdRegistry.connect(List.of(URI.create("http://10.1.2.3:2379")), TEAM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("https or of a loopback address for a password, got http://10.1.2.3:2379");
        assertThatThrownBy(() -> new EtcdRegistry.User("team", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must have a name and a password");
    }
}
