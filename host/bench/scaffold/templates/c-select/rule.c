#include "rule.h"

#include <stdbool.h>

/* True if a cluster comes before another one. */
static bool precedes(const int64_t *scores, const int64_t *room, uint64_t one, uint64_t other)
{
    if (scores[one] != scores[other]) {
        return scores[one] > scores[other];
    }
    return room[one] != room[other] ? room[one] > room[other] : one < other;
}

uint64_t choose(const int64_t *scores, const int64_t *room, uint64_t clusters, uint32_t *chosen)
{
    uint64_t count = 0;
    for (uint64_t cluster = 0; cluster < clusters; cluster++) {
        /* The place of the cluster among those that are chosen so far. */
        uint64_t place = count;
        while (place > 0 && precedes(scores, room, cluster, chosen[place - 1])) {
            place--;
        }
        if (place == MOST) {
            continue;
        }
        count += count < MOST ? 1 : 0;
        for (uint64_t moved = count - 1; moved > place; moved--) {
            chosen[moved] = chosen[moved - 1];
        }
        chosen[place] = (uint32_t)cluster;
    }
    return count;
}
