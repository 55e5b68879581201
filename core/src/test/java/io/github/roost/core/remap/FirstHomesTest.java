package io.github.roost.core.remap;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FirstHomesTest {
    private static final int DOMAINS = 4;

    private final double[] loads = new double[DOMAINS];
    private final int[] ids = new int[DOMAINS];
    private final int[] tables = new int[DOMAINS];

    private int[] register(int count) {
        int[] homes = FirstHomes.assign(loads, ids, tables, count);
        for (int home : homes) {
            ids[home]++;
        }
        tables[homes[0]]++;
        return homes;
    }

    @Test
    void theIdsOfATableAreSpreadEvenly() {
        register(64);
        assertThat(ids).containsOnly(16);
    }

    @Test
    void tablesThatUseTheirFirstIdAloneAreSpreadEvenly() {
        for (int table = 0; table < 24; table++) {
            register(64);
        }
        assertThat(tables).containsOnly(6);
        assertThat(ids).containsOnly(24 * 16);
    }

    @Test
    void tablesOfOneIdAreSpreadAmongThoseOfMany() {
        for (int table = 0; table < 12; table++) {
            register(table % 3 == 0 ? 64 : 1);
        }
        assertThat(tables).containsOnly(3);
    }

    @Test
    void theDomainWithTheLeastTrafficComesFirst() {
        loads[0] = 5;
        loads[1] = 4;
        loads[2] = 3;
        loads[3] = 4;
        ids[2] = 10;
        assertThat(FirstHomes.assign(loads, ids, tables, 1)).containsExactly(2);
    }
}
