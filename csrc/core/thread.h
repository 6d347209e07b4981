/* SPDX-License-Identifier: MIT */
#ifndef SATED_CORE_THREAD_H
#define SATED_CORE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* pthread_create with all signals blocked in the new thread. @param stack_bytes 0 for the default.
 * Return: 0 or a negated errno. */
int thread_start(pthread_t *t, size_t stack_bytes, void *(*run)(void *), void *argument);

#endif
