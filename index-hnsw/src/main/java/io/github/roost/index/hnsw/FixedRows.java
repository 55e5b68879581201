package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.graph.AllowedRows;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphVisit;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;

/** The rows of one graph, which another graph may replace. Thread-safe. */
final class FixedRows extends TableSearch {
    /** Each search reads this field once, so it sees one graph even if another replaces it meanwhile. */
    private volatile Graph graph;

    FixedRows(Graph graph) {
        this.graph = graph;
    }

    Graph graph() {
        return graph;
    }

    void replace(Graph next) {
        graph = next;
    }

    @Override
    SearchResult find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit) {
        return graph.searcher().search(query, k, ef, AllowedRows.ALL, filter, visit);
    }

    @Override
    SearchResult exact(float[] query, int k, GraphVisit visit) {
        Graph searched = graph;
        return searched.searcher().scan(query, k, AllowedRows.ALL, AllowedRows.ALL, 0, searched.nodes(), visit);
    }

    @Override
    float[] vector(int row) {
        Graph read = graph;
        // A swap after the row was chosen may have left fewer rows.
        return read.vector(Math.min(row, read.rows() - 1));
    }

    @Override
    int rows() {
        return graph.rows();
    }
}
