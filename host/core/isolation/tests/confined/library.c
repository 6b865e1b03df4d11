/* A library that the tests open in a confined process. */
#include <pthread.h>
#include <stddef.h>

static int opened;

static void *start(void *argument) { *(int *)argument += 1; return NULL; }

/* Runs while the library is opened. */
__attribute__((constructor)) static void open_library(void)
{
    pthread_t thread;
    opened = 1;
    if (pthread_create(&thread, NULL, start, &opened) == 0)
        pthread_join(thread, NULL);
}

int answer(void) { return opened == 2 ? 42 : 0; }
