package io.github.roost.index.ivf;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchContext;
import java.util.Arrays;
import java.util.List;

/** Has the lists of searches scanned where they are at home. Thread-safe. */
final class ScanQueue {
    private final Orchestrator orchestrator;
    private final Registration registration;

    ScanQueue(Orchestrator orchestrator, Registration registration) {
        this.orchestrator = orchestrator;
        this.registration = registration;
    }

    /**
     * Posts queries to all their lists before any of these is queued, so that the scan of a list serves them all.
     *
     * @param probed the lists of each query
     */
    void post(List<IvfQuery<?>> queries, int[][] probed, Lists lists, ListScanner scanner) {
        int[] toQueue =
                new int[Arrays.stream(probed).mapToInt(some -> some.length).sum()];
        int count = 0;
        try {
            for (int i = 0; i < probed.length; i++) {
                for (int list : probed[i]) {
                    if (lists.mailbox(list).post(queries.get(i))) {
                        toQueue[count++] = list;
                    }
                }
            }
        } finally {
            // Whatever happened: mail that nobody is to take would keep later mail from being taken.
            for (int i = 0; i < count; i++) {
                queue(toQueue[i], queries, lists, scanner);
            }
        }
    }

    /** @param own the queries that the list is queued for; others may have posted to it as well */
    private void queue(int list, List<IvfQuery<?>> own, Lists lists, ListScanner scanner) {
        if (list == lists.bufferNumber()) {
            lists.buffer().countScan();
        }
        ListMailbox mailbox = lists.mailbox(list);
        try {
            MailboxScan scan = new MailboxScan(scanner, mailbox);
            orchestrator.submit(scan, lists.rows(list), id(list, lists)).whenComplete(scan);
        } catch (RuntimeException | Error refused) {
            if (isBecauseClosed(refused)) {
                // The others counted on this task, and their searches may have been accepted before.
                own.forEach(query -> query.answer().completeExceptionally(refused));
                scanForAll(list, lists, scanner);
            } else {
                mailbox.failAll(refused);
            }
        }
    }

    /** The buffer is at home where the first list is. */
    private MappingId id(int list, Lists lists) {
        return registration.id(list == lists.bufferNumber() ? 0 : list);
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
