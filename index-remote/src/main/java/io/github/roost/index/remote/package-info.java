/**
 * HNSW partitions in a remote memory pool: {@link io.github.roost.index.remote.PartitionedIndex} builds a pool, {@link
 * io.github.roost.index.remote.RemoteTable} searches it, {@link io.github.roost.index.remote.RemoteMemory} is how its bytes are
 * reached.
 */
@NullMarked
package io.github.roost.index.remote;

import org.jspecify.annotations.NullMarked;
