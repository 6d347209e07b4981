/* SPDX-License-Identifier: MIT */
/* State files that no simulated ATA drive wrote: each is refused, or what it says can be gone on with, whatever is sent
 * then. And random bytes as commands: no state that they lead to is refused. */
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/target_ata_inside.h"
#include "sim/whole.h"

#define MODEL "hostile-ata"
#define SPEC MODEL ",blocks=64,pages_per_block=8,channels=2,dies=1,op=0.6"

/* The bare model, as a drive with ATA's commands. */
static void add_model(void)
{
    static char text[16384];
    const char *generic = sated_sim_model_text("generic"), *none = strstr(generic, "protocol = { value = \"none\"");
    CHECK(none && strlen(generic) + 8 < sizeof text);
    snprintf(text, sizeof text, "%.*sprotocol = { value = \"ata\"%s", (int)(none - generic), generic,
             none + strlen("protocol = { value = \"none\""));
    CHECK_EQ(sated_sim_add_model(MODEL, text), 0);
}

static const uint8_t codes[] = {0x06, 0x20, 0x24, 0x25, 0x27, 0x2f, 0x34, 0x35, 0x37, 0x3d, 0x42, 0x47, 0x60,
                                0x61, 0x78, 0xb0, 0xb1, 0xb4, 0xc6, 0xc8, 0xca, 0xe0, 0xe1, 0xe2, 0xe3, 0xe5,
                                0xe6, 0xe7, 0xea, 0xec, 0xef, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf8, 0xf9};
static const uint8_t opcodes[] = {0x00, 0x03, 0x08, 0x0a, 0x12, 0x15, 0x1a, 0x1b, 0x25, 0x28, 0x2a, 0x2f, 0x35, 0x42,
                                  0x55, 0x5a, 0x7f, 0x88, 0x8a, 0x91, 0x93, 0x9e, 0xa0, 0xa3, 0xa8, 0xaa, 0xff};

/* A pass-through whose parts are mostly such as can go together. */
static void pass_through(struct random *r, struct sated_scsi_command *c)
{
    static const uint8_t features[] = {0,    1,    2,    3,    4,    0x10, 0x11, 0x12, 0x14, 0x20, 0x40,
                                       0x82, 0xc0, 0xc1, 0xc2, 0xc3, 0xd0, 0xd1, 0xd4, 0xd5, 0xd8, 0xda};
    static const uint64_t lbas[] = {0,          8,          0xc24f00,   0xc24f01,
                                    0xc24f06,   0x43727970, 0x426b4572, 0x4f5700000000,
                                    0x46724c6b, 0x416e7469, 1000,       1 << 20};
    uint64_t lba = lbas[random_below(r, sizeof lbas / sizeof *lbas)];
    bool in = random_below(r, 2), data = random_below(r, 3);
    memset(c, 0, sizeof *c);
    c->cdb_len = 16;
    c->cdb[0] = 0x85;
    c->cdb[1] = (uint8_t)((data ? in ? 4 : 5 : 3) << 1 | 1);
    c->cdb[2] = (uint8_t)(random_below(r, 2) << 5 | (data ? 4 | 2 | in << 3 : 0));
    c->cdb[4] = features[random_below(r, sizeof features)];
    c->cdb[6] = (uint8_t)(data ? 1 : random_below(r, 256));
    c->cdb[8] = (uint8_t)lba;
    c->cdb[10] = (uint8_t)(lba >> 8);
    c->cdb[12] = (uint8_t)(lba >> 16);
    c->cdb[7] = (uint8_t)(lba >> 24);
    c->cdb[9] = (uint8_t)(lba >> 32);
    c->cdb[11] = (uint8_t)(lba >> 40);
    c->cdb[14] = codes[random_below(r, sizeof codes)];
    c->direction = data ? in ? SATED_DATA_IN : SATED_DATA_OUT : SATED_DATA_NONE;
    c->data_len = data ? 512 : 0;
}

static void anything(struct random *r, struct sated_scsi_command *c)
{
    static const uint32_t lengths[] = {0, 1, 8, 24, 512, 4096};
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 16; i++)
        c->cdb[i] = (uint8_t)(random_below(r, 3) ? random_below(r, 4) : random_next(r));
    c->cdb[0] = opcodes[random_below(r, sizeof opcodes)];
    c->cdb_len = c->cdb[0] == 0x7f ? 32 : 16;
    c->data_len = lengths[random_below(r, 6)];
    c->direction = c->data_len ? 1 + (uint32_t)random_below(r, 2) : 0;
}

static void drive(struct sim *s, struct random *r, int commands)
{
    static uint8_t data[8192] __attribute__((aligned(4096)));
    for (int i = 0; i < commands; i++) {
        struct sated_scsi_command c;
        struct sated_reply reply = {.data_len = 0};
        if (random_below(r, 4))
            pass_through(r, &c);
        else
            anything(r, &c);
        for (size_t at = 0; at < 64; at++)
            data[at] = (uint8_t)(random_below(r, 2) ? 0 : random_below(r, 32));
        memset(data + 4096, 0xa5, 4096);
        CHECK_EQ(target_scsi(s, &c, data, &reply), 0);
        CHECK(reply.residual >= 0 && reply.data_len + (uint32_t)reply.residual == c.data_len);
        for (size_t at = 4096; at < sizeof data; at++)
            if (data[at] != 0xa5)
                CHECK_EQ(data[at], 0xa5);
        if (random_below(r, 200) == 0)
            sim_power_cycle(s);
        if (random_below(r, 100) == 0)
            sim_idle_until(s, sim_now_ns(s) + (int64_t)random_below(r, 4000000000));
    }
}

static void check_own_states(void)
{
    struct random r;
    int refused = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim *s = loop_open(seed % 2 ? SPEC : SPEC ",max_address=amac");
        random_seed(&r, seed, 0);
        for (int i = 0; i < 100; i++) {
            drive(s, &r, 20);
            const char *wrong = state_check(s);
            if (wrong && !refused++)
                printf("seed %d: %s\n", (int)seed, wrong);
        }
        sim_free(s);
    }
    CHECK_EQ(refused, 0);
}

static void check_spoiled(void)
{
    struct random r;
    int refused = 0, taken = 0, broken = 0;
    struct sim *s = loop_open(SPEC);
    random_seed(&r, 1, 1);
    drive(s, &r, 200);
    sim_power_cycle(s);
    operation_stop(s);
    struct target good = s->target;
    uint64_t limit = s->limit_bytes;
    for (int i = 0; i < 4000; i++) {
        static const uint8_t values[] = {0, 1, 2, 5, 6, 0x7f, 0x80, 0xfe, 0xff};
        uint8_t *bytes = random_below(&r, 4) ? (uint8_t *)&s->target.ata : (uint8_t *)&s->target.operation;
        size_t n = bytes == (uint8_t *)&s->target.ata ? sizeof s->target.ata : sizeof s->target.operation;
        for (uint64_t change = 1 + random_below(&r, 3); change; change--)
            bytes[random_below(&r, n)] = values[random_below(&r, sizeof values)];
        if (state_check(s)) {
            refused++;
        } else {
            taken++;
            drive(s, &r, 20);
            const char *wrong = state_check(s);
            if (wrong && !broken++)
                printf("change %d: %s\n", i, wrong);
        }
        s->target = good;
        s->limit_bytes = limit;
    }
    sim_free(s);
    printf("# %d spoiled states refused, %d gone on with\n", refused, taken);
    CHECK(refused > 300 && taken > 300);
    CHECK_EQ(broken, 0);
}

/* An erase that would go on beyond the last unit. */
static void check_erase(void)
{
    struct sim *s = loop_open(SPEC);
    s->target.ata.enabled = 1;
    operation_start(s, OPERATION_SECURITY_ERASE, 1000);
    s->target.operation.argument[1] = ata_all_sectors(s);
    ata_update_block(s);
    CHECK(state_check(s) == NULL);
    s->target.operation.argument[1]++;
    CHECK(state_check(s) != NULL);
    sim_free(s);
}

int main(void)
{
    alarm(300);
    add_model();
    check_erase();
    check_own_states();
    check_spoiled();
    return check_done();
}
