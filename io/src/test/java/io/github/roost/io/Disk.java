package io.github.roost.io;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Step;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Files of blocks that say which they are, and searches that read them. */
final class Disk {
    private Disk() {}

    /** Makes a file whose every word says where it is. */
    static Path file(Path file, int blocks) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Files.write(file, content(arena, blocks).toArray(ValueLayout.JAVA_BYTE));
        }
        return file;
    }

    static MemorySegment content(Arena arena, int blocks) {
        MemorySegment all = arena.allocate((long) blocks * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
        for (long at = 0; at < all.byteSize(); at += Long.BYTES) {
            all.set(ValueLayout.JAVA_LONG, at, word(at));
        }
        return all;
    }

    private static long word(long at) {
        return (at + 1) * 0x9E3779B97F4A7C15L;
    }

    static boolean isBlock(MemorySegment memory, long block) {
        for (long at = 0; at < BlockIo.BLOCK_BYTES; at += Long.BYTES) {
            if (memory.get(ValueLayout.JAVA_LONG, at) != word(block * BlockIo.BLOCK_BYTES + at)) {
                return false;
            }
        }
        return true;
    }

    /** What a search of blocks has found. */
    record Found(List<Long> right, List<IOException> failures) {}

    /** Reads all blocks at once and parks until they are there. */
    static CompletableFuture<Found> readAll(
            BlockIo io,
            Orchestrator orchestrator,
            MappingId id,
            SubmitOptions options,
            BlockFile file,
            long... blocks) {
        BlockReads reads = io.reads();
        CompletableFuture<Found> found = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> {
                            reads.read(context, file, query, query.length);
                            return new Step.Park<>(reads.all(), (same, later) -> Step.done(take(reads)));
                        },
                        blocks,
                        id,
                        options);
        var _ = found.whenComplete((result, failure) -> reads.close());
        return found;
    }

    /** Reads all blocks at once, adjacent ones together, and parks until they are there. */
    static CompletableFuture<Found> readMerged(
            BlockIo io, Orchestrator orchestrator, MappingId id, BlockFile file, long... blocks) {
        BlockReads reads = io.reads();
        CompletableFuture<Found> found = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> {
                            reads.readMerged(context, file, query, 0, query.length);
                            return new Step.Park<>(reads.all(), (same, later) -> Step.done(take(reads)));
                        },
                        blocks,
                        id,
                        SubmitOptions.DEFAULT);
        var _ = found.whenComplete((result, failure) -> reads.close());
        return found;
    }

    /** One block after another, each as soon as it is there. */
    static CompletableFuture<Found> readInTurn(
            BlockIo io, Orchestrator orchestrator, MappingId id, BlockFile file, long... blocks) {
        BlockReads reads = io.reads();
        Found all = new Found(new ArrayList<>(), new ArrayList<>());
        CompletableFuture<Found> found = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> inTurn(reads, file, query, 0, all, context),
                        blocks,
                        id,
                        SubmitOptions.DEFAULT);
        var _ = found.whenComplete((result, failure) -> reads.close());
        return found;
    }

    private static Step<long[], Found> inTurn(
            BlockReads reads, BlockFile file, long[] blocks, int at, Found all, SearchContext context) {
        Found now = take(reads);
        all.right.addAll(now.right);
        all.failures.addAll(now.failures);
        if (at == blocks.length) {
            return Step.done(all);
        }
        reads.read(context, file, new long[] {blocks[at]}, 1);
        return new Step.Park<>(reads.any(), (query, later) -> inTurn(reads, file, query, at + 1, all, later));
    }

    static Found take(BlockReads reads) {
        Found found = new Found(new ArrayList<>(), new ArrayList<>());
        for (BlockReads.Read read = reads.next(); read != null; read = reads.next()) {
            if (read.failure() != null) {
                found.failures.add(read.failure());
            } else if (isBlock(read.memory(), read.block())) {
                found.right.add(read.block());
            }
            reads.giveBack(read);
        }
        return found;
    }
}
