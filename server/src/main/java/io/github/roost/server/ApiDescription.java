package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The OpenAPI description, with the fields that depend on the tables filled in. */
final class ApiDescription {
    private ApiDescription() {}

    /** @param dimension of the tables */
    static byte[] of(int dimension) {
        JsonNode description = Json.tree(Resources.bytes("openapi.json"));
        ObjectNode vector = (ObjectNode) description.at("/components/schemas/Vector");
        vector.put("minItems", dimension).put("maxItems", dimension);
        return Json.write(description);
    }
}
