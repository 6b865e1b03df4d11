#include "rule.h"

void rate(const int64_t *room, int64_t *scores, uint64_t clusters)
{
    int64_t most = 0;
    for (uint64_t cluster = 0; cluster < clusters; cluster++) {
        most = room[cluster] > most ? room[cluster] : most;
    }
    /* As a fraction first: a hundred times the room could overflow. */
    for (uint64_t cluster = 0; cluster < clusters; cluster++) {
        scores[cluster] = room[cluster] > 0 ? (int64_t)((double)room[cluster] / (double)most * 100.0) : 0;
    }
}
