/* SPDX-License-Identifier: MIT */
/* Readiness, power conditions and self-tests of the SAS drive (SPC-5, SBC-4 5.31). */
#include "sim/target_scsi_inside.h"

#include <string.h>

#include "core/bytes.h"

#define FOREGROUND 4 /* SELF-TEST CODE: of a background test, this more is the same in the foreground */
#define ABORT 4
#define RESULT_ABORTED 1       /* by SEND DIAGNOSTIC */
#define RESULT_ABORTED_OTHER 2 /* otherwise */
#define FAILED_SEGMENT 3

/* What stands against it has been looked at already. */
int scsi_test_ready(struct scsi_call *k)
{
    (void)k;
    return 0;
}

int scsi_request_sense(struct scsi_call *k)
{
    uint8_t out[32];
    struct target_sense sense = scsi_pollable(k->s);
    if (k->t->attentions)
        sense = (struct target_sense){.key = KEY_ATTENTION, .code = scsi_take_attention(k->s)};
    uint32_t n = target_sense_encode(&sense, k->cdb[1] & 1, out);
    return scsi_give(k, out, n, k->cdb[4]);
}

/* ---- START STOP UNIT ---- */

static void set_power(struct scsi_call *k, uint8_t power)
{
    if (power == SCSI_STOPPED || k->t->power == SCSI_STOPPED)
        scsi_self_test_abort(k->s);
    if (k->t->power == SCSI_STOPPED && power != SCSI_STOPPED)
        k->t->starts++;
    k->t->power = power;
    scsi_window(k->s, false);
}

int scsi_start_stop(struct scsi_call *k)
{
    uint8_t condition = k->cdb[4] >> 4, modifier = k->cdb[3] & 0x0f;
    uint8_t to;
    switch (condition) {
    case 0: to = k->cdb[4] & 1 ? SCSI_ACTIVE : SCSI_STOPPED; break; /* START_VALID */
    case 1: to = SCSI_ACTIVE; break;
    case 2: to = modifier <= 2 ? (uint8_t)(SCSI_IDLE_A + modifier) : UINT8_MAX; break;
    case 3: to = modifier <= 1 ? (uint8_t)(SCSI_STANDBY_Z + modifier) : UINT8_MAX; break;
    case 7: to = k->t->power; break;      /* LU_CONTROL: the timers, which are not enabled, take over */
    case 0xa: to = SCSI_IDLE_A; break;    /* FORCE_IDLE_0 */
    case 0xb: to = SCSI_STANDBY_Z; break; /* FORCE_STANDBY_0 */
    default: return scsi_bad_cdb(k, 4, 7);
    }
    if (to == UINT8_MAX || (modifier && (condition < 2 || condition > 3)))
        return scsi_bad_cdb(k, 3, 3);
    if (to == SCSI_STOPPED && !(k->cdb[4] & 4) && k->t->power != SCSI_STOPPED) { /* NO_FLUSH */
        media_flush(k->s);
        target_changed(k->s);
    }
    set_power(k, to);
    return 0;
}

/* ---- Self-tests (SPC-5, SEND DIAGNOSTIC and the Self-Test Results log page) ---- */

void scsi_self_test_end(struct sim *s, uint8_t code, uint8_t result)
{
    struct scsi_state *t = &s->target.scsi;
    uint64_t hours = target_hours(s);
    memmove(t->self_test + 1, t->self_test, sizeof t->self_test - sizeof *t->self_test);
    t->self_tests += t->self_tests < SCSI_SELF_TESTS;
    t->self_test[0] = (struct scsi_self_test){
        .hours = hours < 0xffff ? (uint16_t)hours : 0xffff,
        .code = code,
        .result = result,
        .number = result > 2 ? FAILED_SEGMENT : 0,
        .key = result > 2 ? KEY_HARDWARE : 0,
        .asc = result > 2 ? CODE_SELF_TEST_FAILED >> 8 : 0,
        .ascq = result > 2 ? CODE_SELF_TEST_FAILED & 0xff : 0,
    };
    target_changed(s);
}

static void end_early(struct sim *s, uint8_t result)
{
    uint8_t code = (uint8_t)s->target.operation.argument[0];
    operation_stop(s);
    scsi_self_test_end(s, code, result);
}

void scsi_self_test_abort(struct sim *s)
{
    if (s->target.operation.kind == OPERATION_SELF_TEST)
        end_early(s, RESULT_ABORTED_OTHER);
}

static int self_test(struct scsi_call *k, uint8_t code)
{
    bool foreground = code > FOREGROUND, extended = code == 2 || code == 2 + FOREGROUND;
    if (k->s->target.operation.kind == OPERATION_SELF_TEST) {
        struct target_sense sense = scsi_pollable(k->s);
        return scsi_refuse(k, &sense);
    }
    /* As the inquiry page tells it, which is as reported: the scale is still to come. */
    int64_t reported_ns = extended ? SCSI_EXTENDED_TEST_NS : SCSI_SHORT_TEST_NS;
    operation_start(k->s, OPERATION_SELF_TEST, reported_ns / (int64_t)k->s->model.scale);
    k->s->target.operation.argument[0] = code;
    if (!foreground)
        return 0;
    if (!operation_wait(k->s)) {
        k->reply->host_status = DID_TIME_OUT;
        return -1;
    }
    return k->t->self_test[0].result ? scsi_fail(k, KEY_HARDWARE, CODE_SELF_TEST_FAILED) : 0;
}

/* A list of the diagnostic pages there are: the one that says so. */
static int send_page(struct scsi_call *k, uint32_t n)
{
    if (n < 4)
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    if (scsi_take(k, n))
        return -1;
    return k->data[0] ? scsi_bad_list(k, 0, 7) : 0;
}

int scsi_send_diagnostic(struct scsi_call *k)
{
    uint8_t code = k->cdb[1] >> 5;
    uint32_t n = bytes_be16(k->cdb + 3);
    if (code == 3 || code == 7 || (code && k->cdb[1] & 4))
        return scsi_bad_cdb(k, 1, 7);
    if (n)
        return code || k->cdb[1] & 4 ? scsi_bad_cdb(k, 3, 7) : send_page(k, n);
    if (code == ABORT) {
        if (k->s->target.operation.kind != OPERATION_SELF_TEST)
            return scsi_bad_cdb(k, 1, 7);
        end_early(k->s, RESULT_ABORTED);
        return 0;
    }
    return code ? self_test(k, code) : 0; /* the default self-test passes at once */
}

int scsi_receive_diagnostic(struct scsi_call *k)
{
    static const uint8_t supported[] = {0, 0, 0, 1, 0};
    if (k->cdb[1] & 1 && k->cdb[2])
        return scsi_bad_cdb(k, 2, 7);
    return scsi_give(k, supported, sizeof supported, bytes_be16(k->cdb + 3));
}
