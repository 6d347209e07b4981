/* SPDX-License-Identifier: MIT */
/* State files that nobody's simulator wrote: each is refused, or what it says is a drive that can be gone on with. And
 * no state that the simulator itself comes to is refused. */
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/whole.h"

static const char *const file = "./test_sim_hostile.sim";

/* Commands of all kinds and sizes, some of them at rest, some many at once. */
static void drive(struct sim *s, struct random *r, int commands)
{
    uint64_t capacity = sim_capacity(s), at = 0;
    uint32_t tag, kind = (uint32_t)random_below(r, 5);
    int64_t done;
    int status;
    for (int i = 0; i < commands; i++) {
        uint32_t bytes = kind == 1 ? 65536 : kind == 2 ? 512 * (1 + (uint32_t)random_below(r, 64)) : 4096;
        if (bytes > capacity)
            bytes = 512;
        at = kind == 1 ? (at + bytes) % capacity : random_below(r, kind == 4 ? capacity / 8 + 1 : capacity);
        at = (at + bytes > capacity ? capacity - bytes : at) / (kind == 2 ? 512 : bytes) * (kind == 2 ? 512 : bytes);
        uint64_t dice = random_below(r, 20);
        enum sated_op op = dice == 0 || (kind == 3 && dice < 10) ? SATED_TRIM : dice < 3 ? SATED_READ : SATED_WRITE;
        CHECK_EQ(sim_submit(s, 0, op, at, bytes), 0);
        if (dice > 12)
            sim_next(s, &tag, &done, &status);
    }
    while (sim_next(s, &tag, &done, &status))
        ;
    if (random_below(r, 2))
        sim_idle_until(s, sim_now_ns(s) + (int64_t)random_below(r, 1000000000));
    if (random_below(r, 6) == 0)
        sim_power_cycle(s);
    if (random_below(r, 20) == 0)
        sim_fail_die(s, (uint32_t)random_below(r, s->timing.dies)); /* or not, where it has failed already */
}

static const char *const policies[] = {"greedy", "fifo", "random", "d-choices:2", "cost-benefit", "windowed:20"};

#define POLICIES (sizeof policies / sizeof *policies)

static struct sim *open_small(struct random *r, const char *policy)
{
    char spec[600];
    static const char *const levellings[] = {"off", "dynamic", "static"};
    uint64_t channels = (uint64_t)1 << random_below(r, 3);
    bool sound = random_below(r, 2);
    int streams = random_below(r, 2) ? 1 : 2 + (int)random_below(r, 4);
    snprintf(
        spec, sizeof spec,
        "generic,channels=%d,dies=%d,parity=%s,spare_blocks=%s,factory_bad=0.03,grown_bad=%d,idle_gc_ms=%d,slc_static=%s,slc_dynamic=%s,slc_idle_ms=5,"
        "pages_per_block=%d,blocks=%d,op=%.2f,domain=%s,gc=%s,timing=%s,"
        "buffer_stripes=%d,coverage=%s,entries=16,queue=8,streams=%d,hot=%s,wear_levelling=%s,wear_threshold=2",
        (int)channels, sound ? 1 : 4, sound || random_below(r, 2) ? "off" : "on", sound ? "0.04" : "0.2",
        sound ? 0 : 200, random_below(r, 2) ? 0 : 20, random_below(r, 2) ? "0" : "0.1",
        random_below(r, 2) ? "0" : "0.7", 8 << random_below(r, 4), (int)(24 * channels + 64),
        0.35 + (double)random_below(r, 40) / 100, random_below(r, 2) ? "channel" : "drive", policy,
        random_below(r, 4) ? "on" : "off", 1 + (int)random_below(r, 4), random_below(r, 2) ? "1" : "0.3", streams,
        streams < 3 && random_below(r, 2) ? "0.1" : "0", levellings[random_below(r, 3)]);
    return loop_open(spec);
}

/* Exactly the pages of the log are in the buffer. */
static bool pending_is_right(const struct ftl *f)
{
    uint64_t pending = 0;
    for (uint64_t i = 0; i < (uint64_t)f->blocks * f->words; i++)
        pending += (uint64_t)__builtin_popcountll(f->pending[i]);
    return pending == f->log_at - f->log_done;
}

static void check_own_states(void)
{
    struct random r;
    int refused = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_seed(&r, seed, 0);
        struct sim *s = open_small(&r, policies[seed % POLICIES]);
        for (int phase = 0; phase < 8; phase++) {
            const char *wrong = state_check(s);
            if (wrong && !refused++)
                printf("seed %d, phase %d: %s\n", (int)seed, phase, wrong);
            drive(s, &r, 1500);
            CHECK(pending_is_right(&s->ftl));
            if (random_below(&r, 10) == 0)
                sim_purge(s);
        }
        sim_free(s);
    }
    CHECK_EQ(refused, 0);
}

static void copy_parts(const struct state_parts *p, uint8_t *copy, bool back)
{
    for (size_t i = 0; i < p->n; i++) {
        if (back)
            memcpy((void *)p->part[i].data, copy, p->part[i].bytes);
        else
            memcpy(copy, p->part[i].data, p->part[i].bytes);
        copy += p->part[i].bytes;
    }
}

static void spoil(const struct state_parts *p, struct random *r)
{
    static const uint32_t values[] = {0, 1, 2, 7, 8, 9, 63, 64, 255, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    const struct file_part *part = &p->part[random_below(r, p->n)];
    uint8_t *data = (uint8_t *)part->data;
    if (!part->bytes)
        return;
    uint64_t at = random_below(r, part->bytes);
    switch (random_below(r, 4)) {
    case 0: data[at] ^= (uint8_t)(1 << random_below(r, 8)); break;
    case 1: data[at] = (uint8_t)random_next(r); break;
    case 2: data[at] += random_below(r, 2) ? 1 : 255; break;
    default:
        if (part->bytes >= 4)
            memcpy(data + at % (part->bytes / 4) * 4, &values[random_below(r, sizeof values / sizeof *values)], 4);
    }
}

/* What the file would hold, changed in a few bytes. The checksum is left aside, as whoever writes a file can make it. */
static void check_spoiled(void)
{
    struct random r;
    int refused = 0, taken = 0, broken = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct state_parts p = {0};
        random_seed(&r, seed, 1);
        struct sim *s = open_small(&r, policies[seed % POLICIES]);
        drive(s, &r, 3000);
        state_parts(s, &p);
        uint8_t *copy = malloc(p.bytes);
        copy_parts(&p, copy, false);
        for (int i = 0; i < 300; i++) {
            for (uint64_t n = 1 + random_below(&r, 3); n; n--)
                spoil(&p, &r);
            if (state_check(s)) {
                refused++;
            } else {
                taken++;
                ftl_log_mark(&s->ftl);
                drive(s, &r, 400);
                const char *wrong = state_check(s);
                if (wrong && !broken++)
                    printf("seed %d, change %d: %s\n", (int)seed, i, wrong);
            }
            copy_parts(&p, copy, true);
            ftl_log_mark(&s->ftl);
        }
        free(copy);
        sim_free(s);
    }
    printf("# %d spoiled states refused, %d gone on with\n", refused, taken);
    CHECK(refused > 1000 && taken > 1000);
    CHECK_EQ(broken, 0);
}

static void hostile(struct sim *s, int which)
{
    switch (which) {
    case 0: s->ftl.domain[0].free_first = 0x7fffffff; break;
    case 1: memset(s->ftl.map, 0x7f, 64); break;
    case 2: s->timing.slot = 1000; break;
    case 3: s->limit_bytes = (uint64_t)1 << 50; break;
    case 4: s->ftl.next[s->ftl.domain[0].free_first] = s->ftl.domain[0].free_first; break;
    case 5: s->ftl.log_done = s->ftl.log_at - s->ftl.log_room - 1; break;
    case 6: memset(s->ftl.random.s, 0, sizeof s->ftl.random.s); break;
    case 7: s->ftl.domain[0].reserve = 0; break;
    case 8: s->now = INT64_MAX; break;
    case 9: s->ftl.quota = 0; break;
    default: /* every erased block called a filled one, so that the next write has nowhere to go */
        for (struct domain *d = s->ftl.domain; d->free_blocks; d->free_blocks--) {
            uint32_t block = d->free_first;
            d->free_first = s->ftl.next[block];
            d->free_pages -= s->ftl.np;
            gc_close(&s->ftl, d, block);
        }
        s->ftl.domain->free_last = FTL_NONE;
    }
}

/* By the file: the same, and a drive that refuses one is as it was. */
static void check_files(void)
{
    struct sated_detail d;
    struct random r, r2;
    for (int which = 0; which < 11; which++) {
        struct sim *s = loop_open("generic,blocks=64,pages_per_block=16,channels=2,dies=1"), *other;
        unlink(file);
        random_seed(&r, 3, (uint64_t)which);
        drive(s, &r, 2000);
        r2 = r;
        struct sim *twin = loop_open("generic,blocks=64,pages_per_block=16,channels=2,dies=1");
        CHECK_EQ(sim_save(s, file), 0);
        CHECK_EQ(sim_restore(twin, file), 0);
        hostile(twin, which);
        CHECK_EQ(sim_save(twin, file), 0);
        sim_free(twin);
        CHECK_EQ(sim_new(&other, file), SATED_STATE);
        sated_detail_get(&d);
        CHECK_TEXT(d.text, "is not a whole state");
        CHECK_EQ(sim_restore(s, file), SATED_STATE);
        CHECK(state_check(s) == NULL);
        /* The dies are not the file's to tell. */
        CHECK_EQ(s->timing.domain_dies, 2);
        loop_run(s, &r2, (struct loop){SATED_WRITE, 4096, 2000, 8, false});
        sim_free(s);
    }
    unlink(file);
}

/* A deep buffer in front of small blocks: a block may be used again while the log still has its former pages. */
static void check_reuse(void)
{
    struct sim *s = loop_open("generic,channels=8,dies=2,pages_per_block=8,blocks=400,op=0.5,buffer_stripes=8");
    struct random r;
    int wrong = 0;
    random_seed(&r, 1, 0);
    loop_fill(s, &r);
    for (int i = 0; i < 300; i++) {
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 100, 32, false});
        wrong += !pending_is_right(&s->ftl);
    }
    CHECK_EQ(wrong, 0);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

/* A burst of relocations: with fifo a drive that was filled in order has only full blocks in front. What was relocated
 * first has been programmed long since when the page log is full; none of it stays in the buffer for ever. */
static void check_burst(void)
{
    struct sim *s = loop_open("generic,gc=fifo,blocks=1024");
    struct random r;
    uint64_t most = 0;
    uint32_t tag;
    int64_t done;
    int status;
    random_seed(&r, 1, 0);
    loop_fill(s, &r);
    for (int i = 0; i < 100000; i++) {
        uint64_t moved = s->ftl.moved;
        sim_submit(s, 0, SATED_WRITE, random_below(&r, 16) * 4096, 4096);
        sim_next(s, &tag, &done, &status);
        most = s->ftl.moved - moved > most ? s->ftl.moved - moved : most;
    }
    CHECK(most > 4 * s->ftl.log_room); /* or this would test nothing */
    CHECK(state_check(s) == NULL);
    CHECK(pending_is_right(&s->ftl));
    sim_idle_until(s, sim_now_ns(s) + 5000000000);
    timing_settle(&s->timing, &s->model, &s->ftl, sim_now_ns(s));
    CHECK(s->ftl.log_at == s->ftl.log_done && pending_is_right(&s->ftl));
    sim_free(s);
}

int main(void)
{
    alarm(300); /* a state that is never done with ends the test */
    check_own_states();
    check_spoiled();
    check_files();
    check_reuse();
    check_burst();
    return check_done();
}
