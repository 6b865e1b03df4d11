/* Tests of the rule: no library is loaded, and no scheduler runs. */
#include <assert.h>
#include <stdio.h>

#include "rule.h"

static const int64_t scores[] = {50, 50, 80, 50};
static const int64_t room[] = {4, 9, 1, 9};

static void the_best_score_comes_first_then_the_most_room(void)
{
    uint32_t chosen[4];
    assert(choose(scores, room, 4, chosen) == 2);
    assert(chosen[0] == 2 && chosen[1] == 1);
}

static void fewer_clusters_are_all_chosen(void)
{
    uint32_t chosen[1];
    assert(choose(scores, room, 1, chosen) == 1 && chosen[0] == 0);
    assert(choose(scores, room, 0, chosen) == 0);
}

int main(void)
{
    the_best_score_comes_first_then_the_most_room();
    fewer_clusters_are_all_chosen();
    puts("2 tests passed");
    return 0;
}
