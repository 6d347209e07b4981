/* SPDX-License-Identifier: MIT */
/* What a load says of itself at its end, where its latencies have more in them than the drive: I/Os that the kernel put
 * off, handed to threads of its own, or did not get soon enough. Each is made to happen by the table of system calls. */
#include <errno.h>
#include <linux/io_uring.h>

#include "file_loads.h"
#include "transport/handle.h"

#define PUT_OFF "the kernel was too busy and took no I/O in "
#define HANDED_ON "the kernel handed I/Os on to threads of its own (io-wq)"
#define HOST_BOUND "host-bound, "

static int refusals, refusal;

static int refusing_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                          size_t bytes)
{
    if (refusals && submit) {
        refusals--;
        return refusal;
    }
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

static int refusing_submit(unsigned long context, uint32_t n, struct iocb **list)
{
    if (refusals) {
        refusals--;
        return refusal;
    }
    return real_kernel.aio_submit(context, n, list);
}

/* EBUSY is of completions that the kernel has to keep by itself, EAGAIN of memory that it lacks (io_uring_enter(2),
 * io_submit(2)): nothing is lost, and how often it was is told. */
static void put_off(int engine, int code)
{
    struct sated_drive *d = fresh(MIB);
    kernel.ring_enter = refusing_enter;
    kernel.aio_submit = refusing_submit;
    refusals = 7;
    refusal = code;
    struct outcome o = run(d, work("randread", "4k", 1, 8), with(engine, 500, 0, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 500);
    CHECK_EQ(o.totals[0].errors, 0);
    CHECK_TEXT(o.note, PUT_OFF "7 calls");
    check_sums(&o);
    outcome_free(&o);
    kernel = real_kernel;
    o = run(d, work("randread", "4k", 1, 8), with(engine, 500, 0, 0.1));
    CHECK(!strstr(o.note, PUT_OFF));
    outcome_free(&o);
    sated_drive_close(d);
}

static struct io_uring_sqe *entries;

static void *entries_map(int fd, size_t bytes, uint64_t offset)
{
    void *at = real_kernel.ring_map(fd, bytes, offset);
    if (offset == IORING_OFF_SQES)
        entries = at;
    return at;
}

/* As the kernel does by itself with what would block. */
static int punting_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                         size_t bytes)
{
    for (uint32_t i = 0; i < 4; i++)
        entries[i].flags |= IOSQE_ASYNC;
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

static void handed_on(void)
{
    struct sated_drive *d = fresh(MIB);
    struct outcome o = run(d, work("write", "64k", 1, 4), with(SATED_ENGINE_IO_URING, 64, 0, 0.1));
    outcome_free(&o);
    kernel.ring_map = entries_map;
    kernel.ring_enter = punting_enter;
    o = run(d, work("randread", "4k", 1, 4), with(SATED_ENGINE_IO_URING, 500, 0, 0.1));
    kernel = real_kernel;
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 500);
    CHECK_EQ(o.totals[0].errors, 0);
    CHECK_TEXT(o.note, HANDED_ON);
    outcome_free(&o);
    /* What is in the page cache already never has to wait, whatever the file system. */
    d->direct = false;
    o = run(d, work("randread", "4k", 1, 4), with(SATED_ENGINE_IO_URING, 500, 0, 0.1));
    CHECK_EQ(o.totals[0].ios, 500);
    CHECK(!strstr(o.note, HANDED_ON));
    outcome_free(&o);
    sated_drive_close(d);
}

/* A drive that is done with each I/O before the next one can come. */
static int prompt_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                        size_t bytes)
{
    return real_kernel.ring_enter(fd, submit, submit > min_complete ? submit : min_complete, flags, argument, bytes);
}

static int prompt_getevents(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                            struct timespec *timeout)
{
    return real_kernel.aio_getevents(context, least ? least : 1, most, out, timeout);
}

/* And one that keeps everything for a long time. */
static int slow_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                      size_t bytes)
{
    nap_ms(50);
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

static int slow_getevents(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                          struct timespec *timeout)
{
    nap_ms(50);
    return real_kernel.aio_getevents(context, least, most, out, timeout);
}

/* One I/O at a time where 64 are wanted is the host's doing. */
static void host_bound(int engine)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_load_options opt = with(engine, 0, 0.3, 0.1);
    kernel.ring_enter = prompt_enter;
    kernel.aio_getevents = prompt_getevents;
    opt.batch = 1;
    struct outcome o = run(d, work("randread", "4k", 1, 64), opt);
    kernel = real_kernel;
    CHECK_EQ(o.rc, 0);
    CHECK(o.totals[0].queue_mean < 4);
    CHECK_TEXT(o.note, HOST_BOUND);
    CHECK_TEXT(o.note, " of 64 I/Os were outstanding on average");
    outcome_free(&o);
    kernel.ring_enter = slow_enter;
    kernel.aio_getevents = slow_getevents;
    o = run(d, work("randread", "4k", 1, 1), with(engine, 0, 0.5, 0.1));
    kernel = real_kernel;
    CHECK(o.totals[0].queue_mean > 0.95);
    CHECK(!strstr(o.note, HOST_BOUND));
    outcome_free(&o);
    sated_drive_close(d);
}

int main(void)
{
    bool has_uring = files_begin();
    if (has_uring) {
        put_off(SATED_ENGINE_IO_URING, -EBUSY);
        put_off(SATED_ENGINE_IO_URING, -EAGAIN);
        handed_on();
        host_bound(SATED_ENGINE_IO_URING);
    }
    put_off(SATED_ENGINE_LIBAIO, -EAGAIN);
    host_bound(SATED_ENGINE_LIBAIO);
    files_end();
    return check_done();
}
