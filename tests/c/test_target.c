/* SPDX-License-Identifier: MIT */
/* What all simulated drives have in common as devices: power, faults, operations, and what of it is in the state file of
 * a process that was killed. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/target_inside.h"
#include "transport/simulated.h"

#include "scsi_drive.h"

static const char file[] = "./test_target.sim", uri[] = "sim:./test_target.sim";

/* ---- Power ---- */

static void check_off(void)
{
    uint32_t tag;
    int64_t done;
    int status;
    bool empty;
    drive = open_drive(MODEL);
    fault(SATED_FAULT_POWER_CUT, 1, -1, SATED_FAULT_BEFORE);
    CHECK_EQ(ready(), -1);
    REFUSED(sim_submit(drive->sim, 0, SATED_READ, 0, 4096), -EIO, "no power");
    REFUSED(simulated_purge(drive, &empty), -EIO, "no power");
    power_cycle();
    CHECK_EQ(sim_submit(drive->sim, 0, SATED_READ, 0, 4096), 0);
    CHECK(sim_next(drive->sim, &tag, &done, &status));
    CHECK_EQ(simulated_purge(drive, &empty), 0);
    sated_drive_close(drive);
}

/* The half that a cut leaves done is of what the command started itself, not of what had been going on before it. */
static void check_half(void)
{
    drive = open_drive(MODEL);
    CHECK_EQ(ready(), 0);
    CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, true, false), 0);
    polled(false);
    uint before = sense.progress;
    fault(SATED_FAULT_POWER_CUT, 1, 0x03, SATED_FAULT_HALF);
    CHECK_EQ(ASK(page, request_sense, false, 252), -1);
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(polled(false), 0x62900);
    CHECK_EQ(polled(false), 0x2041b);
    CHECK(before < 1000 && sense.progress >= before && sense.progress < 1000);
    sated_drive_close(drive);
}

/* What goes on makes no progress without power, however long, and whatever is ordered meanwhile. */
static void check_paused(void)
{
    drive = open_drive(MODEL);
    CHECK_EQ(ready(), 0);
    CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, true, false), 0);
    fault(SATED_FAULT_POWER_CUT, 1, -1, SATED_FAULT_BEFORE);
    CHECK_EQ(ready(), -1);
    sleep_s(100000);
    fault(SATED_FAULT_FIXED_SENSE, 0, -1, 0);
    sleep_s(100000);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(polled(false), 0x62900);
    CHECK_EQ(polled(false), 0x2041b);
    CHECK(sense.progress < 1000);
    sated_drive_close(drive);
}

/* A state file that is opened wrongly is closed again, so that its drive's power was not cut. */
static void check_refused_share(void)
{
    struct sim *s;
    unlink(file);
    CHECK_EQ(sated_sim_create(MODEL, file), 0);
    REFUSED(sim_new(&s, "./test_target.sim,lba=0.00000001"), SATED_PARSE, "not one mapping unit");
    s = loop_open(file);
    CHECK_EQ(s->target.power_cycles, 1);
    CHECK_EQ(s->target.unsafe_shutdowns, 0);
    CHECK_EQ(sim_capacity(s), sim_native_capacity(s));
    sim_free(s);
    unlink(file);
    unlink("./test_target.sim.lock");
}

/* An operation that would take longer than a state can hold takes the longest that it can. */
static void check_longest(void)
{
    struct sim *s = loop_open(MODEL + 4);
    operation_start(s, OPERATION_SELF_TEST, INT64_MAX);
    s->target.operation.argument[0] = 2;
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

/* A drive that was left idle for as long as it can be is one that can be opened again. */
static void check_idle(void)
{
    static const int64_t year = 365 * 24 * 3600 * SECOND;
    unlink(file);
    CHECK_EQ(sated_sim_create(MODEL, file), 0);
    drive = open_drive(uri);
    REFUSED(sated_drive_sleep(drive, INT64_MAX), -EINVAL, "36 years");
    CHECK_EQ(sated_drive_sleep(drive, 36 * year), 0);
    REFUSED(sated_drive_sleep(drive, year), -EINVAL, "36 years");
    CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, false, false), 0);
    sated_drive_close(drive);
    drive = open_drive(uri);
    CHECK_EQ(ready(), 0);
    sated_drive_close(drive);
    unlink(file);
    unlink("./test_target.sim.lock");
}

/* ---- Faults ---- */

static void check_bridge_lock(void)
{
    static const char *const commands[] = {"42 00 00 00 00 00 00 00 18 00", "41 00 00 00 00 00 00 00 01 00",
                                           "2f 00 00 00 00 00 00 00 01 00", "28 00 00 00 00 00 00 00 01 00"};
    drive = open_drive(MODEL);
    CHECK_EQ(ready(), 0);
    fault(SATED_FAULT_BRIDGE_LOCK, 0, -1, 0);
    memset(page, 0, sizeof page);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        CHECK_EQ(ask_bytes(commands[i], i < 2 ? SATED_DATA_OUT : SATED_DATA_IN,
                           i == 0   ? 24
                           : i == 2 ? 0
                                    : 512),
                 0x77471);
    sated_drive_close(drive);
}

/* ---- A process that is killed ---- */

/* Does it in a process of its own that ends without closing the drive; the drive is open here afterwards. */
static void killed(void (*what)(void))
{
    pid_t child = fork();
    if (!child) {
        drive = open_drive(uri);
        what();
        _exit(check_failed != 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    drive = open_drive(uri);
}

static void order(void)
{
    CHECK_EQ(ready(), 0x62900);
    fault(SATED_FAULT_FAIL, 2, 0x00, 0);
}

static void meet(void)
{
    CHECK_EQ(polled(false), 0x62900);
    CHECK_EQ(ready(), 0x00000); /* key, ASC and ASCQ of the fault are 0 */
    CHECK_EQ(reply.scsi_status, 2);
}

static void erase(void)
{
    bool empty;
    CHECK_EQ(simulated_purge(drive, &empty), 0);
    CHECK(empty);
    CHECK_EQ(simulated_set_capacity(drive, 1 << 20), 0);
}

static void put_back(void)
{
    CHECK_EQ(sated_sim_restore(drive, "./test_target.saved"), 0);
}

/* It is in use afterwards as before, by whatever name it was saved. */
static void save_by_name(void)
{
    while (ready())
        ;
    CHECK_EQ(sated_sim_save(drive, file), 0);
}

static void check_killed(void)
{
    unlink(file);
    unlink("./test_target.saved");
    CHECK_EQ(sated_sim_create(MODEL, file), 0);
    drive = open_drive(uri);
    CHECK_EQ(write_block(7, 0xa7), 0);
    sated_drive_close(drive);
    drive = open_drive(uri);
    CHECK_EQ(sated_sim_save(drive, "./test_target.saved"), 0);
    fault(SATED_FAULT_STALL, 0, -1, 0);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    sated_drive_close(drive);

    /* Ordered, and met: counted down in the file, too. */
    killed(order);
    sated_drive_close(drive);
    killed(meet);
    CHECK_EQ(polled(false), 0x62900);
    ready();
    CHECK_EQ(reply.scsi_status, 2);
    ready();
    CHECK_EQ(reply.scsi_status, 0);
    CHECK_EQ(mapped(), 1);
    sated_drive_close(drive);

    killed(erase);
    struct sated_identity id;
    CHECK_EQ(mapped(), 0);
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    CHECK_EQ(id.capacity_bytes, 1 << 20);
    sated_drive_close(drive);

    killed(save_by_name);
    CHECK_EQ(polled(false), 0x62900);
    sated_drive_close(drive);

    killed(put_back);
    CHECK_EQ(mapped(), 1);

    /* A fork has a copy of the drive, which is not the drive: its file is left alone. */
    pid_t child = fork();
    if (!child) {
        REFUSED(sated_sim_save(drive, NULL), SATED_STATE, "a fork");
        CHECK_EQ(sated_sim_save(drive, "./test_target.fork"), 0);
        _exit(check_failed != 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    sated_drive_close(drive);
    unlink(file);
    unlink("./test_target.saved");
    unlink("./test_target.fork");
    unlink("./test_target.sim.lock");
}

int main(void)
{
    alarm(300);
    check_off();
    check_half();
    check_paused();
    check_refused_share();
    check_longest();
    check_idle();
    check_bridge_lock();
    check_killed();
    return check_done();
}
