/* SPDX-License-Identifier: MIT */
/* The medium under the targets, against an array of bytes that has the same done to it. */
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/media.h"
#include "sim/whole.h"

#define SPEC "generic,channels=2,dies=1,pages_per_block=8,blocks=64,op=0.5,page=4096,gc=greedy"

static const char *const file = "./test_sim_media.sim";
static uint8_t wanted[4 << 20], got[4 << 20];
static bool held[1024];

/* Which units hold data, by the rule of ATA and NVMe: a write maps the units it touches, a trim unmaps whole ones. */
static void hold(uint64_t offset, uint64_t bytes, bool write)
{
    for (uint64_t unit = offset / 4096; unit * 4096 < offset + bytes; unit++)
        if (write)
            held[unit] = true;
        else if (unit * 4096 >= offset && (unit + 1) * 4096 <= offset + bytes)
            held[unit] = false;
}

static bool same(struct sim *s, uint64_t capacity)
{
    bool mapped = true;
    for (uint64_t unit = 0; unit < capacity / 4096; unit++)
        mapped &= media_is_mapped(s, unit * 4096) == held[unit];
    CHECK(mapped);
    CHECK_EQ(media_read(s, 0, got, (uint32_t)capacity), 0);
    return !memcmp(wanted, got, capacity);
}

static void step(struct sim *s, struct random *r, uint64_t capacity)
{
    static uint8_t data[65536];
    uint64_t offset = random_below(r, capacity / 512 - 128) * 512, bytes = (1 + random_below(r, 127)) * 512;
    uint64_t word = random_next(r);
    switch (random_below(r, 4)) {
    case 0:
        CHECK_EQ(media_trim(s, offset, bytes), 0);
        memset(wanted + offset, 0, bytes);
        hold(offset, bytes, false);
        break;
    case 1:
        CHECK_EQ(media_fill(s, offset, bytes, word), 0);
        for (uint64_t i = 0; i < bytes; i++)
            wanted[offset + i] = (uint8_t)(word >> i % 8 * 8);
        hold(offset, bytes, true);
        break;
    default:
        for (uint64_t i = 0; i < bytes; i++)
            data[i] = (uint8_t)random_next(r);
        CHECK_EQ(media_write(s, offset, data, (uint32_t)bytes), 0);
        memcpy(wanted + offset, data, bytes);
        hold(offset, bytes, true);
    }
}

static void check_bytes(const char *timing)
{
    char spec[256];
    struct random r;
    random_seed(&r, 9, 0);
    memset(wanted, 0, sizeof wanted);
    memset(held, 0, sizeof held);
    snprintf(spec, sizeof spec, SPEC ",capacitors=on,timing=%s", timing);
    struct sim *s = loop_open(spec);
    uint64_t capacity = sim_capacity(s);
    CHECK(capacity <= sizeof wanted && capacity > 1 << 20);
    for (int phase = 0; phase < 30; phase++) {
        for (int i = 0; i < 40; i++)
            step(s, &r, capacity);
        CHECK(same(s, capacity));
        if (phase % 5 == 2)
            sim_power_cycle(s); /* capacitors keep all that was answered */
        if (phase % 7 == 3) {
            CHECK_EQ(sim_save(s, file), 0);
            step(s, &r, capacity);
            sim_free(s);
            s = loop_open(file); /* as it was saved */
            media_read(s, 0, wanted, (uint32_t)capacity);
            for (uint64_t unit = 0; unit < capacity / 4096; unit++)
                held[unit] = media_is_mapped(s, unit * 4096);
        }
    }
    /* A load's write carries no bytes: the unit holds data, and neither the old ones nor zeros. */
    uint32_t tag;
    int64_t done;
    int status;
    static const uint8_t zeros[4096];
    step(s, &r, capacity);
    CHECK_EQ(media_write(s, 8192, wanted, 4096), 0);
    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, 8192, 4096), 0);
    CHECK(sim_next(s, &tag, &done, &status));
    CHECK_EQ(media_read(s, 8192, got, 4096), 0);
    CHECK(memcmp(got, wanted, 4096) && memcmp(got, zeros, 4096));

    media_overwrite(s, 0x0123456789abcdefULL);
    CHECK_EQ(media_read(s, 0, got, (uint32_t)capacity), 0);
    bool filled = true;
    for (uint64_t i = 0; i < capacity; i++)
        filled &= got[i] == (uint8_t)(0x0123456789abcdefULL >> i % 8 * 8);
    CHECK(filled);
    CHECK(media_is_mapped(s, 0) && media_is_mapped(s, capacity - 4096));
    CHECK(state_check(s) == NULL);

    memset(wanted, 0, sizeof wanted);
    memset(held, 0, sizeof held);
    media_erase(s);
    CHECK(same(s, capacity));
    CHECK(state_check(s) == NULL);
    for (int i = 0; i < 300; i++)
        step(s, &r, capacity);
    CHECK(same(s, capacity));
    sim_free(s);
    unlink(file);
    unlink("./test_sim_media.sim.lock");
}

/* What was answered and is in the write buffer only is gone with the power; what was flushed is not. */
static void check_cut(void)
{
    struct sim *s = loop_open(SPEC ",capacitors=off");
    memset(wanted, 0x5a, 8192);
    CHECK_EQ(media_write(s, 0, wanted, 4096), 0);
    media_flush(s);
    CHECK_EQ(media_write(s, 4096, wanted, 4096), 0);
    sim_power_cycle(s);
    CHECK_EQ(media_read(s, 0, got, 8192), 0);
    CHECK(!memcmp(got, wanted, 4096));
    memset(wanted, 0, 4096);
    CHECK(!memcmp(got + 4096, wanted, 4096));
    /* What was flushed outlives a later write that was not, be it of a part of the same unit (ACS-4, FLUSH CACHE). */
    memset(wanted, 0x66, 512);
    memset(wanted + 512, 0x5a, 4096 - 512);
    CHECK_EQ(media_write(s, 0, wanted, 512), 0);
    sim_power_cycle(s);
    CHECK_EQ(media_read(s, 0, got, 4096), 0);
    CHECK(!memcmp(got + 512, wanted + 512, 4096 - 512) && (got[0] == 0x66 || got[0] == 0x5a));
    /* A later write of part of it does not bring the rest back. */
    memset(wanted, 0x77, 512);
    CHECK_EQ(media_write(s, 4096 + 512, wanted, 512), 0);
    CHECK_EQ(media_read(s, 4096, got, 4096), 0);
    CHECK(got[0] == 0 && got[512] == 0x77 && got[1023] == 0x77 && got[1024] == 0);
    sim_free(s);
}

/* A span of more than one command of the map: of a unit in which one ends and the next begins nothing stays. */
static void check_long_trim(void)
{
    struct sim *s = loop_open(SPEC);
    uint64_t capacity = sim_capacity(s), from = 512, bytes = (1 << 20) + 65536;
    CHECK(from + bytes < capacity);
    memset(wanted, 0xc3, capacity);
    CHECK_EQ(media_write(s, 0, wanted, (uint32_t)capacity), 0);
    memset(held, true, sizeof held);
    CHECK_EQ(media_trim(s, from, bytes), 0);
    memset(wanted + from, 0, bytes);
    hold(from, bytes, false);
    CHECK(same(s, capacity));
    sim_free(s);
}

int main(void)
{
    check_long_trim();
    check_bytes("on");
    check_bytes("off");
    check_cut();
    return check_done();
}
