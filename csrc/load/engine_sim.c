/* SPDX-License-Identifier: MIT */
/* The simulated engine: loops on virtual time, in one thread. Each drive goes from one interval's end to the
 * next in turn, so that two runs of one seed give the same rows however fast the machine is. */
#include "load/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/thread.h"
#include "sim/sim.h"
#include "transport/handle.h"

/* One outstanding I/O. */
struct slot {
    int64_t submitted_ns;
    int64_t intended_ns; /* PACE_NONE: at no rate */
    uint64_t offset;
    uint32_t class;
    uint32_t thread;
};

struct stream {
    struct random random;
    struct address address;
    /* Where I/Os wait for their time. Slots become free in the order of their completions, so that the first of them may
     * be used again first. */
    struct pace pace;
    uint32_t *free_slots, head, tail; /* a ring */
};

struct simulated {
    struct member *member;
    struct sim *sim;
    struct recorder recorder;
    struct sheet *sheet; /* the empty one for the next interval */
    struct log_block *log;
    struct ration ration; /* of the caller's addresses */
    bool given;           /* there are some */
    struct slot *slots;
    struct stream *streams;
    uint32_t n_slots;
    bool timed; /* there is a rate, or a time to think */
    bool done;  /* a limit is reached */
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
        struct simulated *d = &s->drives[i];
        for (uint32_t t = 0; d->streams && t < s->load->workload.threads; t++)
            free(d->streams[t].free_slots);
        sheet_free(d->sheet);
        free(d->slots);
        free(d->streams);
        free(d->log);
        ration_free(&d->ration);
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
    d->sheet = load_sheet_new(l);
    d->timed = l->rates.n || l->workload.think_ns;
    if (!d->slots || !d->streams || !d->sheet)
        return false;
    d->given = supply_is_on(&l->options);
    if (d->given && !ration_init(&d->ration, SUPPLY_AT_ONCE))
        return false;
    m->supply.users = d->given;
    m->start_ns = sim_now_ns(d->sim);
    m->energy_nj = sim_energy_nj(d->sim, m->start_ns);
    for (uint32_t t = 0; t < threads; t++) {
        random_seed(&d->streams[t].random, l->options.seed, (uint64_t)m->index * 256 + t);
        address_init(&d->streams[t].address, &m->range, t, threads);
        pace_init(&d->streams[t].pace, &l->rates, &l->workload, l->options.seed, m->index, t);
        if (d->timed && !(d->streams[t].free_slots = calloc(l->workload.depth, sizeof(uint32_t))))
            return false;
    }
    for (uint32_t i = 0; i < d->n_slots; i++) {
        struct stream *stream = &d->streams[i % threads];
        d->slots[i].thread = i % threads;
        if (d->timed)
            stream->free_slots[stream->tail++] = i;
    }
    return true;
}

/* @param timed as the drive has it. Return: false where a limit is reached. */
static inline bool issue(struct simulated *d, uint32_t tag, int64_t now_ns, bool timed)
{
    struct member *m = d->member;
    const struct mix *mix = &m->load->mix;
    struct slot *slot = &d->slots[tag];
    struct stream *stream = &d->streams[slot->thread];
    if (d->given && !supply_stand(m, &d->ration))
        return false;
    uint32_t class = mix_draw(mix, &stream->random);
    slot->intended_ns = timed && m->load->rates.n ? pace_take(&stream->pace, now_ns, &class) : PACE_NONE;
    uint64_t offset = d->given ? ration_next(&d->ration, mix, &class) : 0;
    uint32_t bytes = mix->bytes[class];
    if (d->recorder.limited && !load_limit_take(m, bytes))
        return false;
    slot->class = class;
    slot->submitted_ns = now_ns;
    slot->offset =
        d->given ? offset : address_next(&stream->address, &m->range, &stream->random, mix->op[class], class, bytes);
    if (sim_submit(d->sim, tag, (enum sated_op)mix->op[class], slot->offset, bytes)) {
        load_failed(m->load); /* the drive has said why */
        return false;
    }
    recorder_submit(&d->recorder, class, now_ns);
    return true;
}

/* The thread that submits next, other than upon a completion, and when; NULL: none has a slot for that. */
static struct stream *next_stream(struct simulated *d, int64_t *at_ns)
{
    const struct sated_load *l = d->member->load;
    int64_t now_ns = d->recorder.now_ns;
    struct stream *next = NULL;
    for (struct stream *s = d->streams; s < d->streams + l->workload.threads; s++) {
        if (s->head == s->tail)
            continue;
        int64_t ns = now_ns;
        if (!l->rates.n)
            ns = d->slots[s->free_slots[s->head % l->workload.depth]].submitted_ns;
        else if (!pace_due(&s->pace, now_ns, s->tail - s->head))
            ns = pace_wake_ns(&s->pace);
        if (!next || ns < *at_ns) {
            next = s;
            *at_ns = ns;
        }
    }
    return next;
}

/* Submits what is due by edge_ns, before the next completion. Return: whether there was any. */
static bool issue_timed(struct simulated *d, int64_t edge_ns)
{
    struct member *m = d->member;
    int64_t done_ns, at_ns = 0;
    struct stream *s;
    if (!d->recorder.submitting || d->done || !(s = next_stream(d, &at_ns)) || at_ns >= m->end_ns || at_ns > edge_ns)
        return false;
    at_ns = at_ns > d->recorder.now_ns ? at_ns : d->recorder.now_ns;
    if (sim_peek_until(d->sim, m->start_ns + at_ns, &done_ns))
        return false;
    sim_idle_until(d->sim, m->start_ns + at_ns);
    if (m->load->rates.n)
        pace_due(&s->pace, at_ns, s->tail - s->head);
    if (issue(d, s->free_slots[s->head % m->load->workload.depth], at_ns, true))
        s->head++;
    else
        d->done = true;
    return !d->done;
}

static void keep(struct simulated *d, const struct slot *slot, int64_t now_ns, int status)
{
    struct member *m = d->member;
    log_add(m->load, &d->log, m->name,
            &(struct sated_io){
                .intended_ns = slot->intended_ns == PACE_NONE ? -1 : slot->intended_ns,
                .submit_ns = slot->submitted_ns,
                .complete_ns = now_ns,
                .offset_bytes = slot->offset,
                .size_bytes = m->load->mix.bytes[slot->class],
                .error = status,
                .member = m->index,
                .op = m->load->mix.op[slot->class],
            });
}

/* Everything that completes up to edge_ns, or until the load is asked to end. */
static void run_until(struct simulated *d, int64_t edge_ns)
{
    struct member *m = d->member;
    struct sated_load *l = m->load;
    int64_t done_ns, start_ns = m->start_ns;
    for (;;) {
        uint32_t tag;
        int status;
        if (d->recorder.submitting && atomic_load_explicit(&l->stop, memory_order_relaxed))
            return;
        if (d->timed && issue_timed(d, edge_ns))
            continue;
        if (!sim_peek_until(d->sim, start_ns + edge_ns, &done_ns))
            return;
        sim_next(d->sim, &tag, &done_ns, &status);
        int64_t now_ns = done_ns - start_ns;
        struct slot *slot = &d->slots[tag];
        if (l->log.most)
            keep(d, slot, now_ns, status);
        if (!status) {
            recorder_complete(&d->recorder, slot->class, now_ns, now_ns - slot->submitted_ns);
            if (slot->intended_ns != PACE_NONE)
                tally_response(&d->recorder.sheet->tally[slot->class], slot->intended_ns, slot->submitted_ns, now_ns);
        } else {
            recorder_fail(&d->recorder, slot->class, now_ns);
            if (d->recorder.limited)
                load_limit_give_back(m, l->mix.bytes[slot->class]);
            load_io_failed(m, slot->class, slot->offset, status);
        }
        if (d->timed) {
            struct stream *s = &d->streams[slot->thread];
            slot->submitted_ns = now_ns + l->workload.think_ns;
            s->free_slots[s->tail++ % l->workload.depth] = tag;
        } else if (d->recorder.submitting && now_ns < m->end_ns) {
            issue(d, tag, now_ns, false);
        }
    }
}

static void hand_over(struct simulated *d, int64_t to_ns)
{
    pthread_mutex_lock(&d->member->load->lock);
    log_put(&d->member->load->log, &d->log);
    pthread_mutex_unlock(&d->member->load->lock);
    d->sheet = recorder_close(&d->recorder, to_ns);
    for (uint32_t t = 0; d->timed && t < d->member->load->workload.threads; t++) {
        struct pace *p = &d->streams[t].pace;
        if (p->backlog_max > d->sheet->backlog_max)
            d->sheet->backlog_max = p->backlog_max;
        p->backlog_max = 0;
    }
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
        if (k == 1 && from_ns == 0 && r->submitting && !d->timed)
            for (uint32_t i = 0; i < d->n_slots; i++)
                issue(d, i, 0, false);
        run_until(d, edge_ns);
        if (!r->outstanding_all && (!d->timed || !r->submitting || d->done))
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
    pthread_mutex_lock(&m->load->lock);
    supply_leave(m);
    for (uint32_t t = 0; d->timed && m->load->rates.n && !d->ration.over && t < m->load->workload.threads; t++)
        load_unsent(m, &d->streams[t].pace, r->now_ns);
    pthread_mutex_unlock(&m->load->lock);
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
    snprintf(l->full_note, sizeof l->full_note, "%s", l->note);
    supply_last_words(l, l->full_note, sizeof l->full_note);
    load_ended(l);
    return NULL;
}

int engine_sim_start(struct sated_load *l)
{
    uint64_t cpus = 0;
    for (size_t i = 0; i < sizeof l->options.cpus / sizeof *l->options.cpus; i++)
        cpus |= l->options.cpus[i];
    if (l->options.flags & ~(uint32_t)SATED_LOAD_ADDRESSES || cpus)
        load_note(l, "a simulated drive has no batches, processors and rings to choose");
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
