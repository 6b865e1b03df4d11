/* The rule: a pure function of numbers, which knows neither clusters nor Divvy. */
#ifndef RULE_H
#define RULE_H

#include <stdbool.h>
#include <stdint.h>

/* True for a cluster that stays. `region` is a symbol: equal texts have equal symbols, and 0 is the empty text. */
bool keeps(uint32_t region);

#endif
