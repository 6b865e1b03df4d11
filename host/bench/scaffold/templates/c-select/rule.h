/* The rule: a pure function of numbers, which knows neither clusters nor Divvy. */
#ifndef RULE_H
#define RULE_H

#include <stdint.h>

/* Most clusters that are chosen. */
#define MOST 2u

/*
 * Chooses the clusters with the best scores, the best first; between equal scores the one with more room, then the first one.
 * Writes their indices, at most `clusters` of them, and returns how many there are.
 */
uint64_t choose(const int64_t *scores, const int64_t *room, uint64_t clusters, uint32_t *chosen);

#endif
