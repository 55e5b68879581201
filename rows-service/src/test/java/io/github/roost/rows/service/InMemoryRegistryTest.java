package io.github.roost.rows.service;

import org.junit.jupiter.api.AfterEach;

class InMemoryRegistryTest extends RegistryContract {
    private final InMemoryRegistry registry = new InMemoryRegistry();

    @Override
    protected Registry one() {
        return registry;
    }

    @Override
    protected Registry other() {
        return registry;
    }

    @AfterEach
    void close() {
        registry.close();
    }
}
