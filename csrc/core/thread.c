/* SPDX-License-Identifier: MIT */
#include "core/thread.h"

#include <signal.h>

#include "core/error.h"

int thread_start(pthread_t *t, size_t stack_bytes, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited by the new thread */
    int rc = pthread_create(t, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (rc)
        return error_set(-rc, SATED_LAYER_NONE, "no thread can be started: %s; use fewer threads", error_text(rc));
    return 0;
}
