/** Tables of jvector graphs, searched by jvector on Roost's workers. */
@SuppressWarnings("requires-transitive-automatic") // jvector has no module descriptor
module io.github.roost.index.jvector {
    requires transitive io.github.roost.vector;
    requires transitive jvector;

    exports io.github.roost.index.jvector;
}
