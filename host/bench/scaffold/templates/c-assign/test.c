/* Tests of the rule: no library is loaded, and no scheduler runs. */
#include <assert.h>
#include <stdio.h>

#include "rule.h"

static const int64_t room[] = {2, 5, 3};

static void the_roomiest_cluster_is_filled_first(void)
{
    int64_t shares[3] = {0};
    assert(divide(6, room, shares, 3) == 0);
    assert(shares[0] == 0 && shares[1] == 5 && shares[2] == 1);
}

static void what_does_not_fit_is_returned(void)
{
    int64_t shares[3] = {0};
    assert(divide(12, room, shares, 3) == 2);
    assert(divide(1, NULL, NULL, 0) == 1);
}

int main(void)
{
    the_roomiest_cluster_is_filled_first();
    what_does_not_fit_is_returned();
    puts("2 tests passed");
    return 0;
}
