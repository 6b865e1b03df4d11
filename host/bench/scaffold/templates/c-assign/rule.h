/* The rule: a pure function of numbers, which knows neither clusters nor Divvy. */
#ifndef RULE_H
#define RULE_H

#include <stdint.h>

/*
 * Fills the cluster with the most room first, then the next; between equals, the first one. `shares` is 0 for every cluster on entry.
 * Returns the replicas for which there is no room.
 */
int64_t divide(int64_t replicas, const int64_t *room, int64_t *shares, uint64_t clusters);

#endif
