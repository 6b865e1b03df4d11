/* Tests of the rule: no library is loaded, and no scheduler runs. */
#include <assert.h>
#include <stdio.h>

#include "rule.h"

int main(void)
{
    assert(keeps(7));
    assert(!keeps(0));
    puts("1 test passed");
    return 0;
}
