/* SPDX-License-Identifier: MIT */
/* The simulated SAS drive against state files that nobody's simulator wrote, and against any bytes as commands: a state
 * is refused or can be gone on with, and no command reaches beyond its buffer. For the sanitizers. */
#define _GNU_SOURCE 1
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/target.h"
#include "sim/whole.h"

#define ROOM 65536

static uint8_t *data; /* ROOM bytes, behind which nothing may be touched */

/* The model s840 with 64 MiB, so that an overwrite takes no time. */
static void add_small(void)
{
    static const char *const changes[][2] = {{"[800166076416,", "[67108864,"}, {"[1099511627776,", "[134217728,"}};
    char *text = strdup(sated_sim_model_text("s840"));
    for (size_t i = 0; i < 2; i++) {
        char *at = strstr(text, changes[i][0]), *out = NULL;
        CHECK(at);
        *at = '\0';
        CHECK(asprintf(&out, "%s%s%s", text, changes[i][1], at + strlen(changes[i][0])) > 0);
        free(text);
        text = out;
    }
    CHECK_EQ(sated_sim_add_model("small", text), 0);
    free(text);
}

/* Opcodes that do something, mostly; fields small enough to be right, mostly. */
static void command(struct random *r, struct sated_scsi_command *c)
{
    static const uint8_t opcodes[] = {0x00, 0x03, 0x04, 0x08, 0x0a, 0x12, 0x15, 0x1a, 0x1b, 0x1c, 0x1d,
                                      0x25, 0x28, 0x2a, 0x2e, 0x2f, 0x35, 0x37, 0x41, 0x42, 0x48, 0x4c,
                                      0x4d, 0x55, 0x5a, 0x5e, 0x88, 0x89, 0x8a, 0x8e, 0x8f, 0x91, 0x93,
                                      0x9e, 0xa0, 0xa3, 0xa8, 0xaa, 0xae, 0xaf, 0xb7};
    static const uint8_t lengths[8] = {6, 10, 10, 16, 16, 12, 16, 16};
    memset(c, 0, sizeof *c);
    c->cdb[0] = random_below(r, 20) ? opcodes[random_below(r, sizeof opcodes)] : (uint8_t)random_next(r);
    c->cdb_len = lengths[c->cdb[0] >> 5];
    for (uint32_t i = 1; i < c->cdb_len; i++) {
        uint64_t dice = random_below(r, 8);
        c->cdb[i] = dice < 5 ? 0 : dice < 7 ? (uint8_t)random_below(r, 32) : (uint8_t)random_next(r);
    }
    c->direction = (uint32_t)random_below(r, 3);
    c->data_len = c->direction ? (uint32_t)(1 + random_below(r, random_below(r, 2) ? 64 : ROOM)) : 0;
}

static void run(struct sim *s, struct random *r, int n)
{
    for (int i = 0; i < n; i++) {
        struct sated_scsi_command c;
        struct sated_reply reply = {0};
        struct sated_scsi_sense sense;
        command(r, &c);
        for (uint32_t j = 0; j < 64; j++)
            data[j] = random_below(r, 3) ? 0 : (uint8_t)random_below(r, 20);
        /* The buffer ends where it has to: at the next 4 KiB behind the data. */
        uint32_t room = (c.data_len + 4095) / 4096 * 4096;
        memmove(data + ROOM - room, data, room < 64 ? room : 64);
        CHECK_EQ(target_scsi(s, &c, c.data_len ? data + ROOM - room : NULL, &reply), 0);
        CHECK(reply.residual >= 0 && (uint32_t)reply.residual <= c.data_len);
        if (reply.scsi_status == 2)
            CHECK_EQ(sated_scsi_decode_sense(reply.sense, reply.sense_len, &sense), 0);
        if (!random_below(r, 50))
            sim_idle_until(s, sim_now_ns(s) + (int64_t)random_below(r, 100000000000));
        if (!random_below(r, 300))
            sim_power_cycle(s);
    }
}

static void check_commands(void)
{
    struct random r;
    int wrong = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        random_seed(&r, seed, 2);
        struct sim *s = loop_open("small");
        for (int i = 0; i < 20; i++) {
            run(s, &r, 200);
            const char *why = state_check(s);
            if (why && !wrong++)
                printf("seed %d: %s\n", (int)seed, why);
        }
        sim_free(s);
    }
    CHECK_EQ(wrong, 0);
}

static void check_spoiled(void)
{
    static const uint64_t values[] = {0,   1,   2,    6,         7,          8,         20,        21,
                                      255, 512, 4096, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    struct random r;
    int refused = 0, taken = 0, broken = 0;
    random_seed(&r, 1, 3);
    struct sim *s = loop_open("small");
    run(s, &r, 500);
    for (int i = 0; i < 4000; i++) {
        struct target held = s->target;
        bool own = random_below(&r, 4);
        uint8_t *bytes = own ? (uint8_t *)&s->target.scsi : (uint8_t *)&s->target;
        uint64_t n = own ? sizeof s->target.scsi : sizeof s->target, at = random_below(&r, n);
        if (random_below(&r, 2))
            bytes[at] = (uint8_t)values[random_below(&r, 9)];
        else
            memcpy(bytes + at % (n / 8) * 8, &values[random_below(&r, sizeof values / sizeof *values)], 8);
        if (state_check(s)) {
            s->target = held;
            refused++;
            continue;
        }
        taken++;
        run(s, &r, 30);
        const char *why = state_check(s);
        if (why && !broken++)
            printf("change %d: %s\n", i, why);
        if (why)
            s->target = held;
    }
    printf("# %d spoiled states refused, %d gone on with\n", refused, taken);
    CHECK(refused > 500 && taken > 500);
    CHECK_EQ(broken, 0);
    sim_free(s);
}

int main(void)
{
    alarm(300);
    uint8_t *map = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data = map;
    CHECK(map != MAP_FAILED && mprotect(map + ROOM, 4096, PROT_NONE) == 0);
    add_small();
    check_commands();
    check_spoiled();
    return check_done();
}
