/* SPDX-License-Identifier: MIT */
/* RAID sets of simulated drives: what they hold, also without a member, what a file keeps of them, and what they refuse.
 * A shadow of the host's bytes is what every read is compared with; parity is compared with the sum of its row. */
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/set.h"

static const char *const file = "./test_sim_set.sim";
static const char member[] = "of=(generic,blocks=64,pages_per_block=64,op=28%)";

#define SPAN (2 << 20)

static struct sim *open_set(const char *kind, const char *more)
{
    char spec[256];
    snprintf(spec, sizeof spec, "%s,%s%s", kind, member, more);
    return loop_open(spec);
}

/* Writes of all lengths and places, each read back at once with what lies around it. */
static void scribble(struct sim *s, uint8_t *shadow, struct random *r, int n)
{
    static uint8_t data[65536], back[65536];
    bool same = true;
    for (int i = 0; i < n; i++) {
        uint32_t bytes = 512 * (1 + (uint32_t)random_below(r, i % 4 ? 16 : 128));
        uint64_t at = 512 * random_below(r, (SPAN - bytes) / 512);
        for (uint32_t b = 0; b < bytes; b++)
            data[b] = (uint8_t)random_next(r);
        memcpy(shadow + at, data, bytes);
        CHECK_EQ(sim_write(s, at, data, bytes), 0);
        at = 512 * random_below(r, (SPAN - bytes) / 512);
        CHECK_EQ(sim_read(s, at, back, bytes), 0);
        same &= !memcmp(back, shadow + at, bytes);
    }
    CHECK(same);
}

static bool holds(struct sim *s, const uint8_t *shadow)
{
    static uint8_t back[SPAN];
    return sim_read(s, 0, back, SPAN) == 0 && !memcmp(back, shadow, SPAN);
}

/* Writes of a load carry no bytes: where they went, a set reads as its own filler, and what lies beside stays. */
static void load_beside(struct sim *s, uint8_t *shadow, struct random *r, bool sequential)
{
    int64_t now;
    uint32_t tag;
    int status;
    for (int i = 0; i < 48; i++) {
        uint64_t at = sequential ? SPAN / 2 + (uint64_t)i * 8192 : 8192 * random_below(r, SPAN / 8192);
        CHECK_EQ(sim_submit(s, 0, SATED_WRITE, at, 8192), 0);
    }
    while (sim_next(s, &tag, &now, &status))
        CHECK_EQ(status, 0);
    static uint8_t back[SPAN];
    CHECK_EQ(sim_read(s, 0, back, SPAN), 0);
    uint64_t kept = 0;
    for (uint64_t at = 0; at < SPAN; at += 4096) {
        bool same = !memcmp(back + at, shadow + at, 4096);
        bool filler = !memcmp(back + at, back + at + 8, 4088); /* one word again and again */
        kept += same;
        CHECK(same || filler);
    }
    CHECK(kept >= SPAN / 4096 - 96);
    memcpy(shadow, back, SPAN);
}

static uint32_t state_of(struct sim *s, uint32_t n)
{
    struct sated_sim_member m;
    CHECK_EQ(set_get_member(s, n, &m), 0);
    return m.state;
}

/* A spare takes its place; it is filled while the set is left alone. */
static void rebuild(struct sim *s, uint32_t n)
{
    CHECK_EQ(set_replace_member(s, n, 100000000), 0);
    CHECK_EQ(state_of(s, n), SATED_MEMBER_REBUILDING);
    sim_idle_until(s, sim_now_ns(s) + 30000000000);
    CHECK_EQ(state_of(s, n), SATED_MEMBER_ONLINE);
    CHECK(set_is_consistent(s));
}

static void check_contents(const char *kind, const char *more, bool redundant)
{
    struct random r;
    random_seed(&r, 7, 0);
    uint8_t *shadow = calloc(1, SPAN);
    struct sim *s = open_set(kind, more);
    printf("%s%s\n", kind, more);
    CHECK(holds(s, shadow)); /* zeros */
    scribble(s, shadow, &r, 300);
    CHECK(holds(s, shadow) && set_is_consistent(s));
    CHECK_EQ(sim_write(s, 0, shadow, SPAN), 0); /* no unit is left that was never written */
    load_beside(s, shadow, &r, false);
    CHECK(set_is_consistent(s));
    for (uint32_t n = 0; n < set_members(s) && redundant; n++) {
        CHECK_EQ(set_fail_member(s, n), 0);
        CHECK(holds(s, shadow));
        scribble(s, shadow, &r, 60);
        load_beside(s, shadow, &r, n & 1);
        CHECK(holds(s, shadow));
        rebuild(s, n);
        CHECK(holds(s, shadow));
        scribble(s, shadow, &r, 20);
    }
    CHECK_EQ(sim_submit(s, 0, SATED_FLUSH, 0, 0), 0);
    uint32_t tag;
    int64_t now;
    int status;
    CHECK(sim_next(s, &tag, &now, &status) && !status);
    sim_power_cycle(s); /* the members have no capacitors */
    CHECK(holds(s, shadow) && set_is_consistent(s));
    CHECK_EQ(sim_purge(s), 0);
    memset(shadow, 0, SPAN);
    CHECK(holds(s, shadow) && set_is_consistent(s));
    sim_free(s);
    free(shadow);
}

/* Counted commands of the members are what a level makes of one command of the host. */
static void expect_commands(const char *spec, uint64_t offset, uint32_t bytes, uint64_t reads, uint64_t writes)
{
    struct sim *s = loop_open(spec);
    uint64_t r = 0, w = 0;
    uint32_t tag;
    int64_t now;
    int status;
    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, offset, bytes), 0);
    CHECK(sim_next(s, &tag, &now, &status) && !status);
    sim_idle_until(s, now + 10000000000);
    for (uint32_t n = 0; n < set_members(s); n++) {
        struct sated_sim_counters c;
        sim_get_counters(set_member(s, n), &c);
        r += c.served_reads;
        w += c.served_writes;
    }
    CHECK_EQ(r, reads);
    CHECK_EQ(w, writes);
    sim_free(s);
}

/* Patterson, Gibson, Katz (1988): a small write of RAID 5 is two reads and two writes; a whole row needs no read. With
 * four of five chunks written, reconstruct-write reads the one that is not; read-modify-write would read five. */
static void check_ways(void)
{
    static const char *const caches[] = {"write-back", "write-through"};
    for (int i = 0; i < 2; i++) {
        char spec[200];
        snprintf(spec, sizeof spec, "raid5,members=6,chunk=64k,cache=%s,%s", caches[i], member);
        expect_commands(spec, 0, 4096, 2, 2);
        expect_commands(spec, 65536 * 5, 65536 * 5, 0, 6);
        expect_commands(spec, 0, 65536 * 4, 1, 5);
        expect_commands(spec, 0, 65536 * 2, 3, 3); /* as many reads either way: modify */
        snprintf(spec, sizeof spec, "raid5,members=6,chunk=64k,failed=0,cache=%s,%s", caches[i], member);
        expect_commands(spec, 0, 4096, 4, 1); /* row 0: its parity is on member 5; data 0 is lost: the other four */
        expect_commands(spec, 65536, 4096, 2, 2);
        snprintf(spec, sizeof spec, "raid5,members=6,chunk=64k,failed=5,cache=%s,%s", caches[i], member);
        expect_commands(spec, 0, 4096, 0, 1); /* no parity to keep */
        snprintf(spec, sizeof spec, "raid1,members=3,cache=%s,%s", caches[i], member);
        expect_commands(spec, 4096, 8192, 0, 3);
        snprintf(spec, sizeof spec, "raid10,members=4,chunk=64k,cache=%s,%s", caches[i], member);
        expect_commands(spec, 0, 131072, 0, 4);
        snprintf(spec, sizeof spec, "raid0,members=4,chunk=64k,cache=%s,%s", caches[i], member);
        expect_commands(spec, 65536, 65536, 0, 1);
    }
}

/* Reads are spread over mirrors; one that goes on is read from one. */
static void check_balance(void)
{
    struct random r;
    random_seed(&r, 3, 0);
    struct sim *s = open_set("raid1,members=2,command_us=1", "");
    struct sated_sim_counters a, b;
    loop_fill(s, &r);
    struct loop_result deep = loop_run(s, &r, (struct loop){SATED_READ, 4096, 20000, 32, false});
    sim_get_counters(set_member(s, 0), &a);
    sim_get_counters(set_member(s, 1), &b);
    CHECK_NEAR(a.served_reads, b.served_reads, 0.02);
    struct sim *one = loop_open("generic,blocks=64,pages_per_block=64,op=28%");
    loop_fill(one, &r);
    double single = loop_run(one, &r, (struct loop){SATED_READ, 4096, 20000, 32, false}).iops;
    CHECK(deep.iops > 1.3 * single);
    sim_free(one);
    sim_free(s);
}

/* A full cache lets no more in than goes out, and rows that come in parts go out as a whole. */
static void check_cache(void)
{
    struct random r;
    random_seed(&r, 5, 0);
    struct sim *s = open_set("raid5,members=3,chunk=64k,cache_size=1m", "");
    struct sated_sim_counters c;
    struct loop_result seq = loop_run(s, &r, (struct loop){SATED_WRITE, 16384, 800, 4, true});
    uint64_t reads = 0;
    sim_idle_until(s, sim_now_ns(s) + 10000000000);
    for (uint32_t n = 0; n < 3; n++) {
        sim_get_counters(set_member(s, n), &c);
        reads += c.served_reads;
    }
    CHECK(reads == 0 && seq.iops > 0); /* 800 x 16 KiB are 100 rows of 128 KiB */
    sim_get_counters(s, &c);
    CHECK_EQ(c.host_write_units, 800 * 4 * 3 / 2);
    CHECK_EQ(c.served_writes, 800);
    sim_free(s);
    struct sim *back = open_set("raid1,members=2,cache_size=1m", ""),
               *through = open_set("raid1,members=2", ",cache=write-through");
    double first = loop_run(back, &r, (struct loop){SATED_WRITE, 4096, 100, 1, false}).iops,
           deep = loop_run(back, &r, (struct loop){SATED_WRITE, 4096, 40000, 32, false}).iops,
           slow = loop_run(through, &r, (struct loop){SATED_WRITE, 4096, 100, 1, false}).iops,
           most = loop_run(through, &r, (struct loop){SATED_WRITE, 4096, 40000, 32, false}).iops;
    CHECK(first > slow); /* acknowledged in the cache */
    CHECK(deep < 1.25 * most && deep > 0.8 * most);
    sim_free(back);
    sim_free(through);
}

/* A set that goes on after a pause in a file does what the undisturbed one does: with rows in its cache and a rebuild that
 * is half done. */
static void check_goes_on(const char *kind, uint32_t fails)
{
    struct sim *a = open_set(kind, ""), *b = open_set(kind, "");
    struct random r, r2, r3;
    random_seed(&r, 4, 0);
    loop_fill(a, &r);
    CHECK_EQ(set_fail_member(a, fails), 0);
    loop_run(a, &r, (struct loop){SATED_WRITE, 4096, 3000, 32, false});
    CHECK_EQ(set_replace_member(a, fails, 20000000), 0);
    loop_run(a, &r, (struct loop){SATED_WRITE, 4096, 500, 8, false});
    CHECK_EQ(state_of(a, fails), SATED_MEMBER_REBUILDING);
    CHECK_EQ(sim_save(a, file), 0);
    CHECK_EQ(sim_restore(b, file), 0);
    struct sim *c = loop_open(file);
    struct sated_sim_counters x, y;
    sim_get_counters(a, &x);
    sim_get_counters(c, &y);
    CHECK(!memcmp(&x, &y, sizeof x));
    CHECK_EQ(sim_now_ns(c), sim_now_ns(a));
    r2 = r3 = r;
    uint64_t digest = loop_run(a, &r, (struct loop){SATED_WRITE, 4096, 4000, 32, false}).digest;
    CHECK(loop_run(b, &r2, (struct loop){SATED_WRITE, 4096, 4000, 32, false}).digest == digest);
    CHECK(loop_run(c, &r3, (struct loop){SATED_WRITE, 4096, 4000, 32, false}).digest == digest);
    sim_idle_until(a, sim_now_ns(a) + 60000000000);
    CHECK_EQ(state_of(a, fails), SATED_MEMBER_ONLINE);
    sim_free(a);
    sim_free(b);
    sim_free(c);
    unlink(file);
    unlink("./test_sim_set.sim.lock");
}

/* Any byte of the file changed: refused, or, where the checksum leaves it out, a set that can be gone on with. */
static void check_damage(void)
{
    struct random r;
    random_seed(&r, 6, 0);
    struct sim *s = open_set("raid5,members=3,chunk=4k,cache_size=1m", "");
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 50, 8, false});
    CHECK_EQ(sim_save(s, file), 0);
    FILE *f = fopen(file, "r+b");
    fseek(f, 0, SEEK_END);
    long bytes = ftell(f);
    for (int i = 0; i < 200; i++) {
        long at = i < 100 ? i : (long)random_below(&r, (uint64_t)bytes);
        fseek(f, at, SEEK_SET);
        int was = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(was ^ (1 + (int)random_below(&r, 255)), f);
        fflush(f);
        int rc = sim_restore(s, file);
        CHECK(rc < 0 || (at >= 32 && at < 40));
        fseek(f, at, SEEK_SET);
        fputc(was, f);
        fflush(f);
    }
    CHECK_EQ(sim_restore(s, file), 0);
    for (int i = 0; i < 20; i++) { /* cut off */
        CHECK_EQ(ftruncate(fileno(f), bytes - 1 - bytes * i / 20), 0);
        CHECK(sim_restore(s, file) < 0);
    }
    fclose(f);
    CHECK(loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 500, 8, false}).iops > 0);
    sim_free(s);
    unlink(file);
    unlink("./test_sim_set.sim.lock");
}

static void refused(const char *spec, const char *part)
{
    struct sim *s;
    struct sated_detail d = {0};
    CHECK_EQ(sim_new(&s, spec), SATED_PARSE);
    sated_detail_get(&d);
    CHECK_TEXT(d.text, part);
    CHECK(s == NULL);
}

static void check_refusals(void)
{
    refused("raid5,members=2,of=710", "members = 2 is not possible: it has 3 to 32");
    refused("raid10,members=5,of=710", "odd number");
    refused("raid1,members=33,of=710", "2 to 32");
    refused("raid0,members=2,of=710,chunk=96k", "no power of two");
    refused("raid0,members=2,of=710,chunk=2m", "no power of two from 4k to 1m");
    refused("raid0,members=2,of=(raid1,members=2,of=710)", "is a set itself");
    refused("raid0,members=2,of=raid1", "is a set itself");
    refused("raid0,members=2", "needs of=");
    refused("raid0,of=710", "needs members=");
    refused("raid0,members=2,of=(710,lba=80%", "parenthesis");
    refused("raid0,members=2,of=(710,seed=3)", "seed belongs to the set");
    refused("raid0,members=2,of=./x.sim", "no state file of its own");
    refused("raid0,members=2,of=711", "710");
    refused("raid0,members=2,of=710,lab=80%", "lba");
    refused("raid0,members=2,of=710,capacity=200GB", "of=(MODEL,capacity=200GB)");
    refused("raid0,members=2,of=710,cache=on", "write-back or write-through");
    refused("raid0,members=2,of=710,failed=0", "no member that can be lost");
    refused("raid1,members=2,of=710,failed=2", "no member 2");
    refused("raid5,members=3,of=(710,scale=1/64),cache_size=4m", "two rows");
    refused("raid5,members=3,of=(710,scale=1/64),scale=1/64", "given twice");
}

static void check_members(void)
{
    struct sim *s = loop_open("raid5,members=3,of=(710,lba=80%),chunk=128k,scale=1/64");
    struct sated_identity id;
    struct sated_sim_member m, other;
    sim_identify(s, &id);
    CHECK_TEXT(id.model, "raid5 set of 3 SSDSA2BZ200G3");
    CHECK_EQ(set_get_member(s, 0, &m), 0);
    CHECK_EQ(set_get_member(s, 1, &other), 0);
    CHECK(strcmp(m.serial, other.serial) != 0);
    CHECK_EQ(id.raw_bytes, 3 * m.raw_bytes);
    CHECK_EQ(id.capacity_bytes, 2 * (m.capacity_bytes / 131072 * 131072));
    CHECK_NEAR(m.capacity_bytes, 0.8 * 200e9 / 64, 0.001);
    CHECK_EQ(id.scale, 64);
    CHECK_EQ(sim_set_capacity(s, id.capacity_bytes / 2 / 512 * 512), 0);
    CHECK_EQ(set_get_member(s, 0, &other), 0);
    CHECK_NEAR(other.capacity_bytes, m.capacity_bytes / 2, 0.001); /* half of each is spare now */
    CHECK_EQ(set_get_member(s, 3, &m), SATED_PARSE);
    CHECK_EQ(set_fail_member(s, 1), 0);
    CHECK_EQ(set_fail_member(s, 2), SATED_STATE);
    CHECK_EQ(set_replace_member(s, 0, 1000000000), SATED_STATE);
    CHECK_EQ(set_replace_member(s, 1, 1000), SATED_PARSE);
    sim_free(s);
    s = loop_open("raid10,members=4,of=(710,scale=1/64)");
    CHECK_EQ(set_fail_member(s, 0), 0);
    CHECK_EQ(set_fail_member(s, 1), SATED_STATE); /* its mirror */
    CHECK_EQ(set_fail_member(s, 3), 0);
    sim_free(s);
    s = loop_open("raid0,members=2,of=(710,scale=1/64)");
    CHECK_EQ(set_fail_member(s, 0), SATED_STATE);
    sim_free(s);
}

int main(void)
{
    static const char *const kinds[] = {"raid0,members=3,chunk=64k", "raid1,members=2",
                                        "raid1,members=3",           "raid5,members=3,chunk=128k",
                                        "raid5,members=5,chunk=4k",  "raid10,members=4,chunk=16k"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_contents(kinds[i], "", i > 0);
        check_contents(kinds[i], ",cache=write-through", i > 0);
    }
    check_ways();
    check_balance();
    check_cache();
    check_goes_on("raid5,members=3,chunk=64k,cache_size=1m", 1);
    check_goes_on("raid1,members=2,chunk=64k,cache_size=1m", 0);
    check_goes_on("raid10,members=4,chunk=64k,cache_size=1m,cache=write-through", 2);
    check_damage();
    check_refusals();
    check_members();
    return check_done();
}
