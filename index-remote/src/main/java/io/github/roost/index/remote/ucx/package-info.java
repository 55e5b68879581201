/**
 * Remote memory over UCX (TCP, shared memory, RDMA), by JUCX: all native functions of this module. A node exposes the file of a pool, and
 * other processes open it as a region. Checks sizes; no address leaves it but to the processes that open a node's region. Needs {@code
 * org.openucx:jucx}, which a program names itself, and the libraries of UCX.
 */
@NullMarked
package io.github.roost.index.remote.ucx;

import org.jspecify.annotations.NullMarked;
