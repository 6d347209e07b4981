/* SPDX-License-Identifier: MIT */
/* Health from drives that answer anything: no crash, no page beyond what came, nothing that contradicts itself. */
#include <sated/sated.h>

#include <string.h>

#include "check.h"
#include "core/random.h"
#include "protocol/known_health.h"

static struct random rng;

static void answer(void *data, uint32_t n, struct sated_reply *reply)
{
    uint8_t *b = data;
    uint32_t some = n ? (uint32_t)(random_next(&rng) % (n + 1)) : 0;
    for (uint32_t i = 0; i < some; i++)
        b[i] = (uint8_t)random_next(&rng);
    reply->residual = (int32_t)(n - some);
    if (random_next(&rng) % 8 == 0) /* more is claimed than was asked for, or less than nothing is left */
        reply->residual = (int32_t)random_next(&rng);
}

static int scsi(void *user, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    (void)user;
    answer(data, c->data_len, reply);
    uint8_t *b = data;
    /* Now and then the header is right, so that what lies behind it is looked at. */
    if (c->cdb[0] == 0x4d && c->data_len >= 4 && random_next(&rng) % 2) {
        b[0] = c->cdb[2] & 0x3f;
        b[1] = b[2] = 0;
    }
    if (random_next(&rng) % 4 == 0) {
        reply->scsi_status = 2;
        reply->driver_status = 8;
        reply->sense_len = (uint32_t)(random_next(&rng) % sizeof reply->sense);
        for (uint32_t i = 0; i < reply->sense_len; i++)
            reply->sense[i] = (uint8_t)random_next(&rng);
    }
    return 0;
}

static int nvme(void *user, const struct sated_nvme_command *c, void *data, struct sated_reply *reply)
{
    (void)user;
    answer(data, c->data_len, reply);
    if (random_next(&rng) % 4 == 0)
        reply->nvme_status = (uint16_t)(random_next(&rng) & 0x7fff);
    return 0;
}

static void ask(uint32_t protocol, int rounds)
{
    int came = 0;
    for (int i = 0; i < rounds; i++) {
        struct sated_transport t;
        struct sated_drive *d;
        struct sated_health health;
        struct sated_health_pages *pages;
        const char *name;
        const void *data;
        sated_transport_init(&t);
        t.protocol = protocol;
        t.simulated = true;
        t.scsi = protocol == SATED_PROTOCOL_NVME ? NULL : scsi;
        t.nvme = protocol == SATED_PROTOCOL_NVME ? nvme : NULL;
        if (sated_drive_open_transport(&d, "anything", &t))
            continue;
        if (sated_health_get(d, &health, &pages) == 0) {
            came++;
            unsigned sum = 0;
            int n;
            for (size_t p = 0; (n = sated_health_page(pages, p, &name, &data)) >= 0; p++)
                for (int k = 0; k < n; k++)
                    sum += ((const uint8_t *)data)[k];
            CHECK(sum != 1u << 31); /* reads every byte */
            CHECK(memchr(health.warnings, 0, sizeof health.warnings) && memchr(health.doubts, 0, sizeof health.doubts));
            CHECK(health.n_sensors_c <= 8);
            CHECK(!(health.conditions & ~health.conditions_told) && health.operation_percent <= 100);
            CHECK(!(health.known & KNOWN_BIT(health, operation_percent)) ||
                  health.conditions & (SATED_HEALTH_SANITIZING | SATED_HEALTH_FORMATTING));
            sated_health_pages_free(pages);
        } else {
            struct sated_detail detail;
            sated_detail_get(&detail);
            CHECK(detail.text[0] && !pages);
        }
        sated_drive_close(d);
    }
    CHECK(came > rounds / 10);
}

int main(void)
{
    random_seed(&rng, 41, 0);
    ask(SATED_PROTOCOL_SCSI, 1500);
    ask(SATED_PROTOCOL_ATA, 1500);
    ask(SATED_PROTOCOL_NVME, 1500);
    CHECK_EQ(sated_health_page(NULL, 0, NULL, NULL), -2); /* ENOENT */
    sated_health_pages_free(NULL);
    return check_done();
}
