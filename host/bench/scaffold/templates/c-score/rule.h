/* The rule: a pure function of numbers, which knows neither clusters nor Divvy. */
#ifndef RULE_H
#define RULE_H

#include <stdint.h>

/* Scores from 0 to 100, in proportion to the room: the cluster with the most room gets 100. */
void rate(const int64_t *room, int64_t *scores, uint64_t clusters);

#endif
