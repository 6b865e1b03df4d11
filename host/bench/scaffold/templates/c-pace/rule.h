/* The rule: a pure function of numbers, which knows neither clusters nor Divvy. */
#ifndef RULE_H
#define RULE_H

#include <stdint.h>

/* Reasons for waiting; their numbers are those of DIVVY_WAIT_*. */
enum { MOVES = 0, FOR_READINESS = 1, FOR_ROOM = 3, FOR_CLUSTERS = 4, FOR_ALLOWANCE = 5 };

/* One number per cluster: replicas now, those that are ready, those in the target, and further ones that fit. */
struct columns {
    const int64_t *current, *ready, *target, *room;
    uint64_t clusters;
};

/* Replicas that a result may have beyond the total, and by which the ready ones may fall below it. No limit of clusters is 0. */
struct allowances {
    int64_t total, max_surge, max_unavailable;
    uint32_t max_clusters;
};

/*
 * Adds a replica if the surge permits it, and otherwise removes one if enough ready ones stay; those that are not ready go first.
 * `next` has the present counts. Returns MOVES, or why there is no step.
 */
uint32_t step(const struct columns *columns, const struct allowances *allowances, int64_t *next);

#endif
