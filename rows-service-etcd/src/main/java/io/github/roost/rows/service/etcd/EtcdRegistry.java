package io.github.roost.rows.service.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.github.roost.rows.service.Registry;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A registry in etcd, for servers and clients of several processes. A server's name is attached to a lease that this process keeps alive; so it
 * expires after the process has ended. The announced version of a table, and the term of its coordinator, are keys that change by compare-and-set.
 * Thread-safe.
 *
 * <p>While etcd does not answer, listeners keep the last list of servers, and a coordinator waits. When it is back, servers that have lost their
 * lease are entered again. Answers to clients do not depend on etcd.
 */
public final class EtcdRegistry implements Registry {
    // One thread, the keeper, renews the lease, enters servers, lists them and tells listeners. Watches of etcd only
    // wake it; it also lists servers in each of its rounds, so a lost event is only a delay of one round. Other methods
    // use the connection from the caller's thread. A failed connection is replaced, since gRPC's reconnect backoff
    // grows to two minutes, which is longer than a lease lives after etcd is back.
    /** The default lease: how long a server stays registered after its process has ended. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(EtcdRegistry.class);
    private static final String SERVERS = "/roost/instances/";
    private static final String TABLES = "/roost/t/";
    private static final long CALL_MILLIS = 5_000;
    /** Longer, as the first call also loads classes. */
    private static final long CONNECT_MILLIS = 15_000;

    static final int ROUNDS_PER_LEASE = 5;
    /** How long a round of the keeper waits for an answer, so that it is over, and another connection is tried, before the lease ends. */
    private static final int ROUNDS_PER_CALL = 2;

    private static final long MIN_ROUND_CALL_MILLIS = 1_000;
    /** How often a caller that waits for the keeper looks whether it is there. */
    private static final long LOOK_MILLIS = 500;

    private static final long RETRY_NANOS = 100_000_000;

    private final List<URI> endpoints;
    private final Duration lease;
    private final boolean isEncrypted;
    private final Options options;
    /** Distinguishes entries of this process from entries of other processes. */
    private final String owner = UUID.randomUUID().toString();

    private final ScheduledExecutorService keeper = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("roost-etcd").factory());
    private final List<Consumer<Map<String, InetSocketAddress>>> listeners = new CopyOnWriteArrayList<>();

    /** The addresses of this process's servers, by name. Guarded by this. */
    private final Map<String, InetSocketAddress> registered = new HashMap<>();

    /** Replaced by the keeper only. */
    private volatile Client client;
    /** Used by the keeper only, as is {@link #watcher}, until it has ended. */
    private long leaseId;

    private Watch.@Nullable Watcher watcher;
    /** Rounds of the keeper since etcd last answered one. */
    private final AtomicInteger failedRounds = new AtomicInteger();

    private volatile Map<String, InetSocketAddress> told = Map.of();
    private volatile boolean isClosed;

    private EtcdRegistry(List<URI> endpoints, boolean isEncrypted, Options options) {
        this.endpoints = endpoints;
        this.lease = options.lease;
        this.isEncrypted = isEncrypted;
        this.options = options;
        this.client = newClient();
    }

    /**
     * Connects to etcd with {@link Options#DEFAULT}.
     *
     * @param endpoints for example {@code http://127.0.0.1:2379}
     * @return the registry; the caller closes it
     * @throws IllegalArgumentException as {@link #connect(List, Options)}
     * @throws UncheckedIOException if etcd does not answer
     */
    public static EtcdRegistry connect(List<URI> endpoints) {
        return connect(endpoints, Options.DEFAULT);
    }

    /**
     * Connects to etcd.
     *
     * @param endpoints 1 to 16 URIs, all {@code http} or all {@code https}, for example {@code http://127.0.0.1:2379}; the certificate of an
     *     {@code https} endpoint must be of its host
     * @param options lease, TLS, user and prefix of keys
     * @return the registry; the caller closes it
     * @throws IllegalArgumentException if there is no endpoint, one is not such a URI with a port, files are given for {@code http} endpoints, a
     *     file has no certificate or key, or a password would be sent without TLS to a host other than loopback
     * @throws UncheckedIOException if etcd does not answer, or is not trusted, or does not trust this process's certificate, or refuses the user
     */
    public static EtcdRegistry connect(List<URI> endpoints, Options options) {
        Vectors.requireRange("endpoints", endpoints.size(), 1, 16);
        String scheme = endpoints.getFirst().getScheme();
        for (URI endpoint : endpoints) {
            if (!("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
                    || endpoint.getHost() == null
                    || endpoint.getPort() < 0) {
                throw new IllegalArgumentException(
                        "endpoint must be as http://127.0.0.1:2379 or https://etcd.example:2379, got " + endpoint);
            }
            if (!endpoint.getScheme().equals(scheme)) {
                throw new IllegalArgumentException("endpoints must be all http or all https, got " + endpoints);
            }
        }
        boolean encrypted = "https".equals(scheme);
        if (!encrypted && !options.tls.equals(Tls.DEFAULT)) {
            throw new IllegalArgumentException("endpoints must be https for TLS, got " + endpoints);
        }
        if (!encrypted && options.user != null) {
            requireLoopback(endpoints);
        }
        EtcdRegistry registry = new EtcdRegistry(List.copyOf(endpoints), encrypted, options);
        boolean done = false;
        try {
            registry.told = registry.servers(CONNECT_MILLIS);
            done = true;
        } finally {
            if (!done) {
                registry.close();
            }
        }
        registry.startKeeper();
        return registry;
    }

    private static void requireLoopback(List<URI> endpoints) {
        for (URI endpoint : endpoints) {
            InetSocketAddress address = new InetSocketAddress(endpoint.getHost(), endpoint.getPort());
            if (address.isUnresolved() || !address.getAddress().isLoopbackAddress()) {
                throw new IllegalArgumentException(
                        "endpoint must be https or of a loopback address for a password, got " + endpoint);
            }
        }
    }

    private void startKeeper() {
        long round = lease.toMillis() / ROUNDS_PER_LEASE;
        keeper.execute(this::keep);
        // A round throws nothing, so the future is not needed.
        ScheduledFuture<?> _ = keeper.scheduleWithFixedDelay(this::keep, round, round, TimeUnit.MILLISECONDS);
    }

    private Client newClient() {
        ClientBuilder builder = Client.builder()
                .endpoints(endpoints)
                .waitForReady(false)
                .retryMaxAttempts(0)
                .connectTimeout(Duration.ofMillis(CALL_MILLIS))
                .keepaliveTime(Duration.ofSeconds(10))
                .keepaliveTimeout(Duration.ofMillis(CALL_MILLIS));
        if (isEncrypted) {
            secure(builder, options.tls);
        }
        if (options.user != null) {
            builder.user(bytes(options.user.name)).password(bytes(options.user.password));
        }
        if (!options.prefix.isEmpty()) {
            builder.namespace(bytes(options.prefix));
        }
        return builder.build();
    }

    private static void secure(ClientBuilder builder, Tls tls) {
        try {
            builder.sslContext(context -> {
                if (tls.trusted() != null) {
                    context.trustManager(tls.trusted().toFile());
                }
                if (tls.certificate() != null && tls.key() != null) {
                    context.keyManager(tls.certificate().toFile(), tls.key().toFile());
                }
            });
        } catch (SSLException | IllegalArgumentException e) {
            throw new IllegalArgumentException("PEM files of certificates and of a key are needed, got " + tls, e);
        }
    }

    /** One round of the keeper. */
    private void keep() {
        if (isClosed) {
            return;
        }
        long millis =
                Math.clamp(lease.toMillis() * ROUNDS_PER_CALL / ROUNDS_PER_LEASE, MIN_ROUND_CALL_MILLIS, CALL_MILLIS);
        try {
            renewLease(millis);
            enterServers(millis);
            tell(servers(millis));
            watchServers();
            if (failedRounds.getAndSet(0) > 0) {
                LOG.info("the registry at {} answers again", endpoints);
            }
        } catch (UncheckedIOException e) {
            if (!isClosed) {
                reconnect(e);
            }
        } catch (RuntimeException e) {
            // Keep the rounds going: keys in etcd may have been written by other programs.
            LOG.warn("the registry at {}", endpoints, e);
        }
    }

    private void reconnect(UncheckedIOException why) {
        if (failedRounds.getAndIncrement() == 0) {
            LOG.warn("{}; the known servers stay", why.getMessage());
        }
        Client next;
        try {
            next = newClient();
        } catch (IllegalArgumentException e) {
            // A certificate is being renewed: the next round tries again.
            LOG.warn("{}", e.getMessage());
            return;
        }
        Client before = client;
        watcher = null;
        client = next;
        before.close();
    }

    private void renewLease(long millis) {
        Set<String> names = registeredNow().keySet();
        if (names.isEmpty()) {
            return;
        }
        if (leaseId != 0 && !isLeaseAlive(millis)) {
            LOG.warn("the lease of {} has ended: its entries are written again", names);
            leaseId = 0;
        }
        if (leaseId == 0) {
            leaseId = await(
                            client.getLeaseClient()
                                    .grant(Math.max(2, lease.toSeconds()), millis, TimeUnit.MILLISECONDS),
                            millis)
                    .getID();
        }
    }

    /** Asks etcd for the lease's time to live and renews it; throws if etcd does not answer. */
    private boolean isLeaseAlive(long millis) {
        return await(client.getLeaseClient().timeToLive(leaseId, LeaseOption.DEFAULT), millis)
                                .getTTL()
                        > 0
                && isRenewed(millis);
    }

    private boolean isRenewed(long millis) {
        try {
            return await(client.getLeaseClient().keepAliveOnce(leaseId), millis).getTTL() > 0;
        } catch (UncheckedIOException endedMeanwhile) {
            return false;
        }
    }

    private synchronized Map<String, InetSocketAddress> registeredNow() {
        return Map.copyOf(registered);
    }

    /** Enters this process's servers that are missing. */
    private void enterServers(long millis) {
        registeredNow().forEach((server, address) -> {
            if (!enter(server, address, millis)) {
                LOG.warn("server {} cannot be entered: another one has its name", server);
            }
        });
    }

    /** Enters a server under the lease; returns false if another server has its name. Idempotent. */
    private boolean enter(String server, InetSocketAddress address, long millis) {
        ByteSequence key = serverKey(server);
        ByteSequence value = bytes(address.getHostString() + ":" + address.getPort() + " " + owner);
        Op put = Op.put(key, value, PutOption.builder().withLeaseId(leaseId).build());
        Txn ifAbsent = client.getKVClient()
                .txn()
                .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
                .Then(put)
                .Else(Op.get(key, GetOption.DEFAULT));
        TxnResponse absent = await(ifAbsent.commit(), millis);
        if (absent.isSucceeded()) {
            return true;
        }
        List<KeyValue> present = absent.getGetResponses().getFirst().getKvs();
        if (present.isEmpty() || !present.getFirst().getValue().equals(value)) {
            return false;
        }
        // The entry is ours, but may be attached to an old lease.
        return present.getFirst().getLease() == leaseId
                || await(client.getKVClient()
                                .txn()
                                .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value)))
                                .Then(put)
                                .commit())
                        .isSucceeded();
    }

    private void watchServers() {
        if (listeners.isEmpty() || (watcher != null && !watcher.isClosed())) {
            return;
        }
        Client of = client;
        watcher = of.getWatchClient()
                .watch(
                        bytes(SERVERS),
                        WatchOption.builder().isPrefix(true).build(),
                        Watch.listener(changes -> wake(), failure -> LOG.debug("watch", failure)));
    }

    /** Makes the keeper run a round now. */
    private void wake() {
        if (!isClosed) {
            keeper.execute(this::keep);
        }
    }

    private void tell(Map<String, InetSocketAddress> now) {
        if (!now.equals(told)) {
            told = now;
            listeners.forEach(listener -> listener.accept(now));
        }
    }

    @Override
    public Registration register(String server, InetSocketAddress address) {
        CompletableFuture<Boolean> entered = CompletableFuture.supplyAsync(() -> tryRegister(server, address), keeper);
        long until = System.nanoTime() + lease.toNanos() * 2;
        // The name of a killed server is taken until its lease ends; its successor waits for that.
        while (!join(entered)) {
            if (System.nanoTime() - until > 0) {
                throw new IllegalArgumentException(
                        "server must have a name of its own, got " + server + ", which is there");
            }
            LockSupport.parkNanos(RETRY_NANOS);
            entered = CompletableFuture.supplyAsync(() -> tryRegister(server, address), keeper);
        }
        AtomicBoolean isOver = new AtomicBoolean();
        return () -> {
            // If it is closed again, the name may be a successor's.
            if (!isOver.getAndSet(true)) {
                unregister(server, address);
            }
        };
    }

    private boolean tryRegister(String server, InetSocketAddress address) {
        synchronized (this) {
            if (registered.putIfAbsent(server, address) != null) {
                throw new IllegalArgumentException(
                        "server must have a name of its own, got " + server + ", which is there");
            }
        }
        boolean isEntered = false;
        try {
            renewLease(CALL_MILLIS);
            isEntered = enter(server, address, CALL_MILLIS);
            return isEntered;
        } finally {
            if (!isEntered) {
                forget(server, address);
            } else {
                wake();
            }
        }
    }

    private synchronized boolean forget(String server, InetSocketAddress address) {
        return registered.remove(server, address);
    }

    private void unregister(String server, InetSocketAddress address) {
        if (!forget(server, address)) {
            return;
        }
        try {
            // On the keeper: a round of it that has begun may enter the server once more.
            join(CompletableFuture.runAsync(() -> remove(server, address), keeper));
        } catch (RejectedExecutionException closed) {
            remove(server, address);
        }
    }

    private void remove(String server, InetSocketAddress address) {
        ByteSequence key = serverKey(server);
        ByteSequence value = bytes(address.getHostString() + ":" + address.getPort() + " " + owner);
        await(client.getKVClient()
                .txn()
                .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value)))
                .Then(Op.delete(key, DeleteOption.DEFAULT))
                .commit());
    }

    /** Waits for a task of the keeper; throws a RejectedExecutionException if that ends before. */
    private <T> T join(CompletableFuture<T> future) {
        try {
            while (true) {
                try {
                    return future.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException notYet) {
                    if (keeper.isTerminated() && !future.isDone()) {
                        throw new RejectedExecutionException("the registry is closed");
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted", e));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public Map<String, InetSocketAddress> servers() {
        return servers(CALL_MILLIS);
    }

    private Map<String, InetSocketAddress> servers(long millis) {
        GetOption all = GetOption.builder().isPrefix(true).build();
        Map<String, InetSocketAddress> servers = new HashMap<>();
        for (KeyValue entry :
                await(client.getKVClient().get(bytes(SERVERS), all), millis).getKvs()) {
            String name = decode(text(entry.getKey()).substring(SERVERS.length()));
            InetSocketAddress address = address(text(entry.getValue()));
            if (address != null) {
                servers.put(name, address);
            }
        }
        return Map.copyOf(servers);
    }

    /** The address in an entry, or null if it is not an entry of Roost's. */
    private static @Nullable InetSocketAddress address(String value) {
        int space = value.indexOf(' ');
        String address = space < 0 ? value : value.substring(0, space);
        int colon = address.lastIndexOf(':');
        if (colon <= 0) {
            return null;
        }
        try {
            return new InetSocketAddress(
                    address.substring(0, colon), Integer.parseInt(address, colon + 1, address.length(), 10));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    @Override
    public Registration watch(Consumer<Map<String, InetSocketAddress>> listener) {
        // On the keeper, so that the listener gets lists in their order.
        join(CompletableFuture.runAsync(
                () -> {
                    try {
                        tell(servers());
                    } catch (UncheckedIOException notNow) {
                        LOG.debug("the known servers stay", notNow);
                    }
                    listener.accept(told);
                    listeners.add(listener);
                },
                keeper));
        wake();
        return () -> listeners.remove(listener);
    }

    @Override
    public long takeCharge(String table, long above) {
        ByteSequence key = tableKey(table, "term");
        while (true) {
            KeyValue before = get(key);
            long term = Math.max(before == null ? 0 : number(before), above) + 1;
            Cmp unchanged =
                    new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(before == null ? 0 : before.getModRevision()));
            Op put = Op.put(key, bytes(Long.toString(term)), PutOption.DEFAULT);
            if (await(client.getKVClient().txn().If(unchanged).Then(put).commit())
                    .isSucceeded()) {
                return term;
            }
        }
    }

    @Override
    public long termInCharge(String table) {
        KeyValue term = get(tableKey(table, "term"));
        return term == null ? 0 : number(term);
    }

    @Override
    public Optional<Announced> announced(String table) {
        return Optional.ofNullable(get(tableKey(table, "target"))).map(EtcdRegistry::toAnnounced);
    }

    @Override
    public boolean announce(String table, long term, long before, Announced next) {
        ByteSequence key = tableKey(table, "target");
        KeyValue now = get(key);
        if ((now == null ? 0 : toAnnounced(now).version()) != before) {
            requireInCharge(table, term);
            return false;
        }
        boolean isDone = await(client.getKVClient()
                        .txn()
                        .If(
                                new Cmp(
                                        tableKey(table, "term"),
                                        Cmp.Op.EQUAL,
                                        CmpTarget.value(bytes(Long.toString(term)))),
                                new Cmp(
                                        key,
                                        Cmp.Op.EQUAL,
                                        CmpTarget.modRevision(now == null ? 0 : now.getModRevision())))
                        .Then(Op.put(key, bytes(text(next)), PutOption.DEFAULT))
                        .commit())
                .isSucceeded();
        if (!isDone) {
            requireInCharge(table, term);
        }
        return isDone;
    }

    private void requireInCharge(String table, long term) {
        long inCharge = termInCharge(table);
        if (inCharge != term) {
            throw new IllegalStateException(
                    "a coordinator of term " + inCharge + " is in charge, not one of term " + term);
        }
    }

    private @Nullable KeyValue get(ByteSequence key) {
        List<KeyValue> found = await(client.getKVClient().get(key)).getKvs();
        return found.isEmpty() ? null : found.getFirst();
    }

    private static long number(KeyValue entry) {
        try {
            return Long.parseLong(text(entry.getValue()));
        } catch (NumberFormatException e) {
            throw notOurs(entry, e);
        }
    }

    private static String text(Announced announced) {
        return announced.version() + " " + announced.shards() + " " + Long.toHexString(announced.content());
    }

    private static Announced toAnnounced(KeyValue entry) {
        String[] words = text(entry.getValue()).split(" ", -1);
        try {
            if (words.length == 2 || words.length == 3) {
                long content = words.length == 2 ? 0 : Long.parseUnsignedLong(words[2], 16);
                return new Announced(Long.parseLong(words[0]), Integer.parseInt(words[1]), content);
            }
        } catch (IllegalArgumentException e) {
            throw notOurs(entry, e);
        }
        throw notOurs(entry, null);
    }

    private static IllegalStateException notOurs(KeyValue entry, @Nullable Throwable cause) {
        String value = text(entry.getValue());
        return new IllegalStateException(
                "key " + text(entry.getKey()) + " of etcd is not Roost's: its value is "
                        + value.substring(0, Math.min(40, value.length())),
                cause);
    }

    private <T> T await(CompletableFuture<T> call) {
        return await(call, CALL_MILLIS);
    }

    private <T> T await(CompletableFuture<T> call, long millis) {
        try {
            return call.get(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unanswered("interrupted", e);
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
            throw unanswered(String.valueOf(cause.getMessage()), cause);
        } catch (TimeoutException e) {
            call.cancel(true);
            throw unanswered("nothing for " + millis + " ms", e);
        }
    }

    private UncheckedIOException unanswered(String why, Throwable cause) {
        String message = "the registry at " + endpoints + " does not answer: " + why;
        return new UncheckedIOException(message, new IOException(message, cause));
    }

    private static ByteSequence serverKey(String server) {
        return bytes(SERVERS + encode(server));
    }

    private static ByteSequence tableKey(String table, String what) {
        return bytes(TABLES + encode(table) + "/" + what);
    }

    /** Encodes a name, which may have any characters, as one part of a key; parts are separated by slashes. */
    private static String encode(String name) {
        return URLEncoder.encode(name, UTF_8);
    }

    private static String decode(String part) {
        return URLDecoder.decode(part, UTF_8);
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    private static String text(ByteSequence bytes) {
        return bytes.toString(UTF_8);
    }

    /** Stops without unregistering servers, as the end of the process does: for tests. */
    void abandon() {
        isClosed = true;
        keeper.shutdownNow();
        client.close();
    }

    /** Revokes the lease, as if it had not been renewed: for tests. */
    void loseLease() {
        join(CompletableFuture.runAsync(() -> await(client.getLeaseClient().revoke(leaseId)), keeper));
    }

    /** Rounds in which etcd did not answer since it last did: for tests. */
    int failedRounds() {
        return failedRounds.get();
    }

    /** Closes the registry, and unregisters the servers of this process. Idempotent. */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        listeners.clear();
        keeper.shutdown();
        try {
            if (!keeper.awaitTermination(CALL_MILLIS, TimeUnit.MILLISECONDS)) {
                keeper.shutdownNow();
                keeper.awaitTermination(CALL_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            keeper.shutdownNow();
            Thread.currentThread().interrupt();
        }
        try {
            if (leaseId != 0) {
                await(client.getLeaseClient().revoke(leaseId));
            }
        } catch (UncheckedIOException e) {
            LOG.debug("the lease ends by itself", e);
        } finally {
            client.close();
        }
    }

    /**
     * How a process uses etcd. Immutable.
     *
     * @param lease how long a server stays registered after its process has ended, from 2 s to 1 h
     * @param tls of connections to {@code https} endpoints; {@code http} endpoints need {@link Tls#DEFAULT}
     * @param user with rights to read and write the keys with the prefix, for an etcd with authentication; null for none. A password is sent only
     *     over TLS or to loopback
     * @param prefix begins all keys, for example {@code /team-a}, up to 1,000 characters; empty for none. Processes with different prefixes do not see
     *     each other
     */
    public record Options(Duration lease, Tls tls, @Nullable User user, String prefix) {
        /** {@link #DEFAULT_LEASE}, {@link Tls#DEFAULT}, no user, no prefix. */
        public static final Options DEFAULT = new Options(DEFAULT_LEASE, Tls.DEFAULT, null, "");

        /**
         * Checks the arguments.
         *
         * @throws IllegalArgumentException if the lease or the prefix's length is out of range
         */
        public Options {
            Vectors.requireRange("lease seconds", lease.toSeconds(), 2, 3_600);
            Vectors.requireRange("characters of prefix", prefix.length(), 0, 1_000);
        }

        /**
         * These options with another lease.
         *
         * @param now the lease
         * @return the options
         */
        public Options withLease(Duration now) {
            return new Options(now, tls, user, prefix);
        }

        /**
         * These options with other files for TLS.
         *
         * @param now the files
         * @return the options
         */
        public Options withTls(Tls now) {
            return new Options(lease, now, user, prefix);
        }

        /**
         * These options with another user.
         *
         * @param now the user, or null for none
         * @return the options
         */
        public Options withUser(@Nullable User now) {
            return new Options(lease, tls, now, prefix);
        }

        /**
         * These options with another prefix of keys.
         *
         * @param now the prefix
         * @return the options
         */
        public Options withPrefix(String now) {
            return new Options(lease, tls, user, now);
        }
    }

    /**
     * A user of an etcd with authentication.
     *
     * @param name not empty
     * @param password not empty
     */
    public record User(String name, String password) {
        /**
         * Checks the arguments.
         *
         * @throws IllegalArgumentException if one is empty
         */
        public User {
            if (name.isEmpty() || password.isEmpty()) {
                throw new IllegalArgumentException("user must have a name and a password, one is empty");
            }
        }

        /** Omits the password, which is a secret. */
        @Override
        public String toString() {
            return "User[" + name + "]";
        }
    }

    /**
     * How a connection to etcd over TLS is secured. All files are in PEM format, and are read whenever a connection is made. Immutable.
     *
     * @param trusted certificates of the authorities that etcd's certificate is checked against; null for those of the JDK
     * @param certificate this process's certificate, for an etcd that asks for one ({@code --client-cert-auth}); null for none
     * @param key the private key of the certificate, in PKCS #8 format and not encrypted; null if there is no certificate
     */
    public record Tls(
            @Nullable Path trusted,
            @Nullable Path certificate,
            @Nullable Path key) {
        /** Checks etcd's certificate against the JDK's authorities, and has no certificate of its own. */
        public static final Tls DEFAULT = new Tls(null, null, null);

        /**
         * Checks the arguments.
         *
         * @throws IllegalArgumentException if only one of certificate and key is given, or a file cannot be read
         */
        public Tls {
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
}
