package io.github.roost.index.hnsw.graph;

import io.github.roost.vector.spi.BuildWork;
import java.util.ServiceLoader;

/** Builds graphs in Java. A {@link ServiceLoader} finds it: the artifact {@code roost-index-jvector} has one. Stateless. */
public interface JavaGraphBuilder {
    /**
     * The builder on the class path or module path.
     *
     * @return a builder
     * @throws IllegalStateException if there is none; the message names the artifact that has one
     */
    static JavaGraphBuilder require() {
        return ServiceLoader.load(JavaGraphBuilder.class, JavaGraphBuilder.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "buildInJava(true), and every build without C kernels, needs jvector: add the dependency"
                                + " io.github.roost:roost-index-jvector"));
    }

    /**
     * Builds a graph over vectors, by squared distance. Processes twice as many numbers as there are vectors.
     *
     * @param work the steps of the build
     * @param vectors at least one, all of one dimension
     * @param options size of the graph and width of the build
     * @return a graph whose nodes are numbered as the vectors
     */
    BuiltGraph build(BuildWork work, float[][] vectors, GraphOptions options);
}
