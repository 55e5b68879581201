package io.github.roost.index.ivf;

import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The task that was queued for a mailbox: scans the list for all whose mail it finds. Told what became of the task, it fails
 * those whose mail it has not taken: later mail has a task of its own, so only a task that never ran leaves mail behind.
 */
final class MailboxScan
        implements SearchFunction<RowList, Boolean>, BiConsumer<@Nullable Boolean, @Nullable Throwable> {
    private final ListScanner scanner;
    private final ListMailbox mailbox;
    /** Written by the worker that runs the task, before the task is complete; read by who learns of that. */
    private volatile boolean taken;

    MailboxScan(ListScanner scanner, ListMailbox mailbox) {
        this.scanner = scanner;
        this.mailbox = mailbox;
    }

    @Override
    public Boolean search(RowList list, SearchContext context) {
        taken = true;
        List<IvfQuery<?>> waiting = mailbox.takeAll();
        try {
            scanner.scan(list, waiting, context);
            return true;
        } catch (RuntimeException | Error failure) {
            waiting.forEach(query -> query.answer().completeExceptionally(failure));
            throw failure;
        }
    }

    /** The task is complete. */
    @Override
    public void accept(@Nullable Boolean done, @Nullable Throwable failure) {
        if (failure != null && !taken) {
            mailbox.failAll(failure);
        }
    }
}
