/**
 * HNSW partitions in a remote memory pool. {@link io.github.roost.index.remote.PartitionedIndex} builds a pool,
 * {@link io.github.roost.index.remote.RemoteTable} searches and changes it, {@link io.github.roost.index.remote.RemoteMemory} is the SPI for
 * access to its bytes.
 */
@NullMarked
package io.github.roost.index.remote;

import org.jspecify.annotations.NullMarked;
