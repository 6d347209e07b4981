/* SPDX-License-Identifier: MIT */
/* The simulated engine: closed loops on virtual time, in one thread. Each drive goes from one interval's end to the
 * next in turn, so that two runs of one seed give the same rows however fast the machine is. */
#include "load/job.h"

#include <stdlib.h>
#include <string.h>

#include "core/thread.h"
#include "sim/sim.h"
#include "transport/handle.h"

/* One outstanding I/O. */
struct slot {
    int64_t submitted_ns;
    uint64_t offset;
    uint32_t class;
    uint32_t thread;
};

struct stream {
    struct random random;
    struct address address;
};

struct simulated {
    struct member *member;
    struct sim *sim;
    struct recorder recorder;
    struct sheet *sheet; /* the empty one for the next interval */
    struct slot *slots;
    struct stream *streams;
    uint32_t n_slots;
};

struct simulation {
    struct sated_load *load;
    struct simulated drives[LOAD_DRIVES];
};

static void simulation_free(struct simulation *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->load->n; i++) {
        sheet_free(s->drives[i].sheet);
        free(s->drives[i].slots);
        free(s->drives[i].streams);
    }
    free(s);
}

static bool drive_init(struct simulated *d, struct member *m)
{
    const struct sated_load *l = m->load;
    uint32_t threads = l->workload.threads;
    d->member = m;
    d->sim = m->drive->sim;
    d->n_slots = threads * l->workload.depth;
    d->slots = calloc(d->n_slots, sizeof *d->slots);
    d->streams = calloc(threads, sizeof *d->streams);
    d->sheet = sheet_new(l->mix.n);
    if (!d->slots || !d->streams || !d->sheet)
        return false;
    m->start_ns = sim_now_ns(d->sim);
    m->energy_nj = sim_energy_nj(d->sim, m->start_ns);
    for (uint32_t t = 0; t < threads; t++) {
        random_seed(&d->streams[t].random, l->options.seed, (uint64_t)m->index * 256 + t);
        address_init(&d->streams[t].address, &m->range, t, threads);
    }
    for (uint32_t i = 0; i < d->n_slots; i++)
        d->slots[i].thread = i % threads;
    return true;
}

static inline void issue(struct simulated *d, uint32_t tag, int64_t now_ns)
{
    struct member *m = d->member;
    const struct mix *mix = &m->load->mix;
    struct slot *slot = &d->slots[tag];
    struct stream *stream = &d->streams[slot->thread];
    uint32_t class = mix_draw(mix, &stream->random), bytes = mix->bytes[class];
    if (d->recorder.limited && !load_limit_take(m, bytes))
        return;
    slot->class = class;
    slot->submitted_ns = now_ns;
    slot->offset = address_next(&stream->address, &m->range, &stream->random, mix->op[class], class, bytes);
    if (sim_submit(d->sim, tag, (enum sated_op)mix->op[class], slot->offset, bytes)) {
        load_failed(m->load); /* the drive has said why */
        return;
    }
    recorder_submit(&d->recorder, class, now_ns);
}

/* Everything that completes up to edge_ns, or until the load is asked to end. */
static void run_until(struct simulated *d, int64_t edge_ns)
{
    struct member *m = d->member;
    struct sated_load *l = m->load;
    int64_t done_ns, start_ns = m->start_ns;
    while (sim_peek(d->sim, &done_ns) && done_ns - start_ns <= edge_ns) {
        uint32_t tag;
        int status;
        if (d->recorder.submitting && atomic_load_explicit(&l->stop, memory_order_relaxed))
            return;
        sim_next(d->sim, &tag, &done_ns, &status);
        int64_t now_ns = done_ns - start_ns;
        const struct slot *slot = &d->slots[tag];
        if (!status) {
            recorder_complete(&d->recorder, slot->class, now_ns, now_ns - slot->submitted_ns);
        } else {
            recorder_fail(&d->recorder, slot->class, now_ns);
            if (d->recorder.limited)
                load_limit_give_back(m, l->mix.bytes[slot->class]);
            load_io_failed(m, slot->class, slot->offset, status);
        }
        if (d->recorder.submitting && now_ns < m->end_ns)
            issue(d, tag, now_ns);
    }
}

static void hand_over(struct simulated *d, int64_t to_ns)
{
    d->sheet = recorder_close(&d->recorder, to_ns);
    if (!sheet_is_empty(d->sheet))
        collect_sheet(d->member, d->sheet);
    sheet_reset(d->sheet);
}

static void interval(struct simulated *d, uint64_t k)
{
    struct member *m = d->member;
    struct recorder *r = &d->recorder;
    int64_t from_ns = load_edge_ns(m, k - 1), last_ns = load_edge_ns(m, k);
    for (;;) {
        load_begin(m, r, d->sheet, k, from_ns);
        int64_t edge_ns = atomic_load_explicit(&r->edge_ns, memory_order_relaxed);
        if (k == 1 && from_ns == 0 && r->submitting)
            for (uint32_t i = 0; i < d->n_slots; i++)
                issue(d, i, 0);
        run_until(d, edge_ns);
        if (!r->outstanding_all)
            break;
        if (r->submitting && atomic_load(&m->load->stop)) {
            edge_ns = r->now_ns;
            pthread_mutex_lock(&m->load->lock);
            load_end_at(m, edge_ns, edge_ns * m->scale);
            pthread_mutex_unlock(&m->load->lock);
        }
        hand_over(d, edge_ns);
        from_ns = edge_ns;
        if (edge_ns == last_ns)
            return;
    }
    hand_over(d, r->now_ns);
    collect_end(m);
    m->ended = true;
}

/* Waits until what is handed over was taken. */
static void wait_for_room(struct sated_load *l)
{
    pthread_mutex_lock(&l->lock);
    while (outbox_bytes(&l->rows) > COLLECT_FULL && !atomic_load(&l->stop))
        pthread_cond_wait(&l->go, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

static void halt(struct sated_load *l, uint64_t tick)
{
    pthread_mutex_lock(&l->lock);
    load_ask(l, tick);
    while (l->answered < tick && !atomic_load(&l->stop))
        pthread_cond_wait(&l->go, &l->lock);
    l->progress.tick = 0;
    pthread_mutex_unlock(&l->lock);
}

static void *simulate(void *argument)
{
    struct simulation *s = argument;
    struct sated_load *l = s->load;
    bool running = true;
    for (uint64_t k = 1; running; k++) {
        pthread_mutex_lock(&l->lock);
        l->begun_k = k;
        pthread_mutex_unlock(&l->lock);
        wait_for_room(l);
        running = false;
        for (uint32_t i = 0; i < l->n; i++) {
            if (!l->members[i].ended)
                interval(&s->drives[i], k);
            running |= !l->members[i].ended;
        }
        if (running && l->check_k && k % l->check_k == 0)
            halt(l, k / l->check_k);
    }
    simulation_free(s);
    load_ended(l);
    return NULL;
}

int engine_sim_start(struct sated_load *l)
{
    struct simulation *s = calloc(1, sizeof *s);
    bool good = s != NULL;
    if (s)
        s->load = l;
    for (uint32_t i = 0; good && i < l->n; i++)
        good = drive_init(&s->drives[i], &l->members[i]);
    if (!good) {
        simulation_free(s);
        return load_no_memory();
    }
    int rc = thread_start(&l->thread, 0, simulate, s);
    if (rc)
        simulation_free(s);
    return rc;
}
