/** Tables served by several processes: the protocol that keeps each batch to one version, and the rollout of versions. */
@NullMarked
package io.github.roost.rows.service;

import org.jspecify.annotations.NullMarked;
