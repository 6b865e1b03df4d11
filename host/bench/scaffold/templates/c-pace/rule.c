#include "rule.h"

#include <stdbool.h>

/* The smaller number. */
static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* True if a result that gives the cluster its first replica exceeds the limit of clusters. */
static bool is_one_too_many(const struct columns *columns, const struct allowances *allowances, uint64_t cluster)
{
    uint64_t occupied = 0;
    for (uint64_t other = 0; other < columns->clusters; other++) {
        occupied += columns->current[other] > 0 ? 1 : 0;
    }
    return allowances->max_clusters > 0 && columns->current[cluster] == 0 && occupied >= allowances->max_clusters;
}

uint32_t step(const struct columns *columns, const struct allowances *allowances, int64_t *next)
{
    int64_t replicas = 0, ready = 0;
    for (uint64_t cluster = 0; cluster < columns->clusters; cluster++) {
        replicas += columns->current[cluster];
        ready += least(columns->ready[cluster], columns->current[cluster]);
    }
    uint32_t reason = ready < replicas ? FOR_READINESS : FOR_ALLOWANCE;
    /* A new replica. */
    for (uint64_t cluster = 0; cluster < columns->clusters; cluster++) {
        if (columns->target[cluster] <= columns->current[cluster]) {
            continue;
        }
        if (columns->room[cluster] <= 0) {
            reason = FOR_ROOM;
        } else if (is_one_too_many(columns, allowances, cluster)) {
            reason = FOR_CLUSTERS;
        } else if (replicas < allowances->total + allowances->max_surge) {
            next[cluster]++;
            return MOVES;
        }
    }
    /* An old one: not a ready one while too few of them would stay. */
    const bool may_lose = ready > allowances->total - allowances->max_unavailable;
    for (uint64_t cluster = 0; cluster < columns->clusters; cluster++) {
        const bool is_ready = columns->ready[cluster] >= columns->current[cluster];
        if (columns->target[cluster] < columns->current[cluster] && (may_lose || !is_ready)) {
            next[cluster]--;
            return MOVES;
        }
    }
    return reason;
}
