/**
 * Remote memory over UCX (TCP, shared memory, RDMA), by JUCX; has all native functions of this module. A node exposes the file of a pool, and
 * other processes open it as a region. Sizes are checked; addresses leave the package only in the handshake between a node and a process that
 * opens its region. Needs {@code org.openucx:jucx}, which the program must add to its dependencies, and the libraries of UCX.
 */
@NullMarked
package io.github.roost.index.remote.ucx;

import org.jspecify.annotations.NullMarked;
