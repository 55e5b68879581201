/** LangChain4j's embedding store, embedded and durable. */
@NullMarked
package io.github.roost.langchain4j;

import org.jspecify.annotations.NullMarked;
