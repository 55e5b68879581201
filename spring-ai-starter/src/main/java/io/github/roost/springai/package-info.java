/** Spring AI's vector store, embedded and durable, with its auto-configuration. */
@NullMarked
package io.github.roost.springai;

import org.jspecify.annotations.NullMarked;
