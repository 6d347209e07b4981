/* SPDX-License-Identifier: MIT */
#include "load/iolog.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "load/job.h"

void log_free(struct log *g)
{
    for (struct log_block *b = g->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    g->first = g->last = NULL;
}

void log_put(struct log *g, struct log_block **block)
{
    struct log_block *b = *block;
    *block = NULL;
    if (!b)
        return;
    b->next = NULL;
    *(g->first ? &g->last->next : &g->first) = b;
    g->last = b;
    g->waiting++;
}

size_t log_take(struct log *g, struct sated_io *out, size_t cap)
{
    size_t taken = 0;
    while (g->first && taken < cap) {
        struct log_block *b = g->first;
        size_t n = b->n - g->taken < cap - taken ? b->n - g->taken : cap - taken;
        memcpy(out + taken, b->io + g->taken, n * sizeof *out);
        taken += n;
        g->taken += (uint32_t)n;
        if (g->taken < b->n)
            break;
        g->first = b->next;
        g->taken = 0;
        g->waiting--;
        g->held--;
        free(b);
    }
    return taken;
}

bool log_turn(struct sated_load *l, struct log_block **block, const char *name)
{
    struct log *g = &l->log;
    const bool simulated = l->engine == SATED_ENGINE_SIMULATED;
    pthread_mutex_lock(&l->lock);
    log_put(g, block);
    if (log_is_much(g))
        pthread_cond_signal(&l->changed);
    while (simulated && g->held >= g->most && !atomic_load(&l->stop))
        pthread_cond_wait(&l->go, &l->lock);
    bool full = !simulated && g->held >= g->most && !atomic_load(&l->stop);
    g->held++;
    pthread_mutex_unlock(&l->lock);
    if (full) { /* the little that is still out goes into blocks beyond the limit */
        error_set(
            SATED_STATE, SATED_LAYER_ARGUMENT,
            "%s: the load has ended, because %zu MiB of its log were not taken; take it while the load runs, write "
            "it to something faster, or give it a rate",
            name, (g->most * sizeof **block) >> 20);
        load_failed(l);
    }
    *block = malloc(sizeof **block);
    if (!*block) {
        load_no_memory();
        load_failed(l);
        return false;
    }
    (*block)->n = 0;
    return true;
}
