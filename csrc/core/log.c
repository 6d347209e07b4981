/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { WAITING = 256, LINE = 512 };

static atomic_int wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*sink_call)(int, const char *, void *);
static void *sink_user;
static struct {
    int level;
    char text[LINE];
} waiting[WAITING];
static unsigned head, count;

void sated_log_set(int level, void (*sink)(int level, const char *text, void *user), void *user)
{
    pthread_mutex_lock(&lock);
    sink_call = sink;
    sink_user = user;
    atomic_store(&wanted, level);
    pthread_mutex_unlock(&lock);
}

void log_say(enum sated_log_level level, const char *format, ...)
{
    if ((int)level > atomic_load_explicit(&wanted, memory_order_relaxed))
        return;
    char text[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    void (*call)(int, const char *, void *) = sink_call;
    void *user = sink_user;
    if (!call) {
        unsigned at = (head + count) % WAITING;
        if (count == WAITING)
            head = (head + 1) % WAITING; /* the oldest gives way */
        else
            count++;
        waiting[at].level = (int)level;
        memcpy(waiting[at].text, text, sizeof text);
    }
    pthread_mutex_unlock(&lock);
    if (call)
        call((int)level, text, user);
}

int sated_log_take(char *text, size_t n)
{
    int level = 0;
    pthread_mutex_lock(&lock);
    if (count) {
        level = waiting[head].level;
        if (n)
            snprintf(text, n, "%s", waiting[head].text);
        head = (head + 1) % WAITING;
        count--;
    }
    pthread_mutex_unlock(&lock);
    return level;
}
