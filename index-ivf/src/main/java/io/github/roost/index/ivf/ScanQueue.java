package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;

/**
 * Has the lists of searches scanned where they are at home. Where workers are free a search has tasks of its own, each for
 * several of its lists: nobody else waits for these. Elsewhere it posts itself to the lists' mailboxes. Thread-safe.
 */
final class ScanQueue {
    private final Orchestrator orchestrator;
    private final Registration registration;
    private final IntSupplier rows;
    private final int domains;

    /** @param rows how many the table has */
    ScanQueue(Orchestrator orchestrator, Registration registration, IntSupplier rows) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.rows = rows;
        this.domains = orchestrator.topology().domains().size();
    }

    /**
     * Has the lists of queries scanned; those of several, which come at once, together.
     *
     * @param query makes one, given its number, when its turn has come
     * @param probed the lists of each, after the buffer if that is to be scanned
     * @return their answers
     */
    List<CompletableFuture<Neighbors>> scan(
            IntFunction<IvfQuery<?>> query, int[][] probed, Lists lists, ListScanner scanner) {
        if (probed.length > 1) {
            return post(query, probed, lists, scanner);
        }
        IvfQuery<?> only = query.apply(0);
        scan(only, probed[0], lists, scanner);
        return List.of(only.answer());
    }

    private void scan(IvfQuery<?> query, int[] probed, Lists lists, ListScanner scanner) {
        int[] posted = new int[probed.length];
        int count = 0;
        int[][] byHome = byHome(probed, lists);
        for (int home = 0; home < byHome.length && !query.answer().isDone(); home++) {
            int[] there = byHome[home];
            // Where a list has several homes others are likely to wait for it.
            int free = there.length == 0 || home == domains ? 0 : orchestrator.freeWorkers(home);
            if (free == 0) {
                System.arraycopy(there, 0, posted, count, there.length);
                count += there.length;
            } else {
                scanAlone(query, Bundles.of(there, bytesEach(lists, scanner), free), lists, scanner);
            }
        }
        if (count > 0) {
            post(i -> query, new int[][] {Arrays.copyOf(posted, count)}, lists, scanner);
        }
    }

    /** Lists by the domain that is their home, and last those that have several. */
    private int[][] byHome(int[] probed, Lists lists) {
        if (domains == 1) {
            return new int[][] {probed};
        }
        int[] counts = new int[domains + 1];
        int[][] byHome = new int[domains + 1][probed.length];
        for (int list : probed) {
            int home = registration.home(cluster(list, lists));
            int at = home < 0 ? domains : home;
            byHome[at][counts[at]++] = list;
        }
        Arrays.setAll(byHome, at -> Arrays.copyOf(byHome[at], counts[at]));
        return byHome;
    }

    /** On average: to look at every list costs more than bundles that are less even. */
    private long bytesEach(Lists lists, ListScanner scanner) {
        return (long) rows.getAsInt() * scanner.rowBytes() / lists.count();
    }

    private void scanAlone(IvfQuery<?> query, List<int[]> bundles, Lists lists, ListScanner scanner) {
        QueryScan scan = new QueryScan(this, lists, scanner, query);
        for (int[] bundle : bundles) {
            countScanOfBuffer(bundle[0], lists);
            try {
                var _ = orchestrator.submit(scan, bundle, id(bundle[0], lists)).whenComplete(scan);
            } catch (RuntimeException | Error refused) {
                query.answer().completeExceptionally(refused);
                return;
            }
        }
    }

    /** A task that scans several lists is done with one of them, whose traffic is its own. */
    void scanned(int list, Lists lists, ListContext context) {
        orchestrator.touched(id(list, lists), context.nodes(), context.bytes());
    }

    /**
     * Posts queries to all their lists before any of these is queued, so that the scan of a list serves them all; each as soon
     * as it is made, for the sake of the scans that are about to begin.
     */
    private List<CompletableFuture<Neighbors>> post(
            IntFunction<IvfQuery<?>> query, int[][] probed, Lists lists, ListScanner scanner) {
        List<CompletableFuture<Neighbors>> answers = new ArrayList<>(probed.length);
        int[] toQueue = new int[total(probed)];
        int count = 0;
        try {
            for (int i = 0; i < probed.length; i++) {
                IvfQuery<?> next = query.apply(i);
                answers.add(next.answer());
                for (int list : probed[i]) {
                    if (lists.mailbox(list).post(next)) {
                        toQueue[count++] = list;
                    }
                }
            }
        } finally {
            // Whatever happened: mail that nobody is to take would keep later mail from being taken.
            for (int i = 0; i < count; i++) {
                queue(toQueue[i], answers, lists, scanner);
            }
        }
        return answers;
    }

    private static int total(int[][] probed) {
        int total = 0;
        for (int[] lists : probed) {
            total += lists.length;
        }
        return total;
    }

    /** @param own answers of the queries that the list is queued for; others may have posted to it as well */
    private void queue(int list, List<CompletableFuture<Neighbors>> own, Lists lists, ListScanner scanner) {
        countScanOfBuffer(list, lists);
        ListMailbox mailbox = lists.mailbox(list);
        try {
            MailboxScan scan = new MailboxScan(scanner, mailbox);
            var _ = orchestrator.submit(scan, lists.rows(list), id(list, lists)).whenComplete(scan);
        } catch (RuntimeException | Error refused) {
            if (isBecauseClosed(refused)) {
                // The others counted on this task, and their searches may have been accepted before.
                own.forEach(answer -> answer.completeExceptionally(refused));
                scanForAll(list, lists, scanner);
            } else {
                mailbox.failAll(refused);
            }
        }
    }

    private static void countScanOfBuffer(int list, Lists lists) {
        if (list == lists.bufferNumber()) {
            lists.buffer().countScan();
        }
    }

    private MappingId id(int list, Lists lists) {
        return registration.id(cluster(list, lists));
    }

    /** The buffer is at home where the first list is. */
    private static int cluster(int list, Lists lists) {
        return list == lists.bufferNumber() ? 0 : list;
    }

    private boolean isBecauseClosed(Throwable refused) {
        return !registration.isOpen() || (refused instanceof RejectedSearchException full && full.domain() < 0);
    }

    /** Scans a list for all who wait for it, in this thread, and tells them where that fails. */
    private static void scanForAll(int list, Lists lists, ListScanner scanner) {
        List<IvfQuery<?>> waiting = lists.mailbox(list).takeAll();
        try {
            scanner.scan(lists.rows(list), waiting, SearchContext.outside((nodes, bytes) -> {}));
        } catch (RuntimeException | Error failure) {
            waiting.forEach(query -> query.answer().completeExceptionally(failure));
        }
    }
}
