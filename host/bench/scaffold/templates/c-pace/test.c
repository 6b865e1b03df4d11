/* Tests of the rule: no library is loaded, and no scheduler runs. */
#include <assert.h>
#include <stdio.h>

#include "rule.h"

static const int64_t target[] = {2, 0};
static const int64_t room[] = {9, 0};
static const struct allowances surge_of_one = {.total = 2, .max_surge = 1};

/* The step from these counts, of which these are ready; it is written to `next`. */
static uint32_t from(const int64_t *current, const int64_t *ready, int64_t *next)
{
    const struct columns columns = {current, ready, target, room, 2};
    next[0] = current[0];
    next[1] = current[1];
    return step(&columns, &surge_of_one, next);
}

static void a_new_replica_comes_first(void)
{
    const int64_t current[] = {0, 2};
    int64_t next[2];
    assert(from(current, current, next) == MOVES && next[0] == 1 && next[1] == 2);
}

static void an_old_one_goes_once_it_is_ready(void)
{
    const int64_t current[] = {1, 2}, ready[] = {0, 2};
    int64_t next[2];
    assert(from(current, ready, next) == FOR_READINESS);
    assert(from(current, current, next) == MOVES && next[0] == 1 && next[1] == 1);
}

int main(void)
{
    a_new_replica_comes_first();
    an_old_one_goes_once_it_is_ready();
    puts("2 tests passed");
    return 0;
}
