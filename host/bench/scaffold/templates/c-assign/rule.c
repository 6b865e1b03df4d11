#include "rule.h"

/* The cluster with the most room among those that have no share yet; `clusters` if there is none. */
static uint64_t roomiest(const int64_t *room, const int64_t *shares, uint64_t clusters)
{
    uint64_t best = clusters;
    for (uint64_t cluster = 0; cluster < clusters; cluster++) {
        if (shares[cluster] == 0 && room[cluster] > 0 && (best == clusters || room[cluster] > room[best])) {
            best = cluster;
        }
    }
    return best;
}

int64_t divide(int64_t replicas, const int64_t *room, int64_t *shares, uint64_t clusters)
{
    int64_t left = replicas;
    while (left > 0) {
        const uint64_t next = roomiest(room, shares, clusters);
        if (next == clusters) {
            break;
        }
        shares[next] = left < room[next] ? left : room[next];
        left -= shares[next];
    }
    return left;
}
