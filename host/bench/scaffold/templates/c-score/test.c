/* Tests of the rule: no library is loaded, and no scheduler runs. */
#include <assert.h>
#include <stdio.h>

#include "rule.h"

static void the_roomiest_cluster_gets_100(void)
{
    const int64_t room[] = {2, 8, 0};
    int64_t scores[3] = {0};
    rate(room, scores, 3);
    assert(scores[0] == 25 && scores[1] == 100 && scores[2] == 0);
}

static void huge_numbers_stay_in_range(void)
{
    const int64_t room[] = {INT64_MAX, INT64_MAX - 1};
    int64_t scores[2] = {0};
    rate(room, scores, 2);
    assert(scores[0] == 100 && scores[1] <= 100);
}

int main(void)
{
    the_roomiest_cluster_gets_100();
    huge_numbers_stay_in_range();
    puts("2 tests passed");
    return 0;
}
