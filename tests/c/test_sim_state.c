/* SPDX-License-Identifier: MIT */
/* The simulated drive as an object: what it keeps, what it forgets, what it counts and what it refuses. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"

static const char *const file = "./test_sim_state.sim";

static struct loop random_writes(uint64_t ios)
{
    return (struct loop){SATED_WRITE, 4096, ios, 32, false};
}

static bool same_counters(struct sim *a, struct sim *b)
{
    struct sated_sim_counters x, y;
    sim_get_counters(a, &x);
    sim_get_counters(b, &y);
    return !memcmp(&x, &y, sizeof x);
}

/* A drive that goes on after a pause in a file, and one opened from that file, do what the undisturbed one does. */
static void check_goes_on(const char *spec)
{
    struct sim *a = loop_open(spec), *b = loop_open(spec);
    struct random r, r2, r3;
    random_seed(&r, 4, 0);
    uint64_t units = sim_capacity(a) / 4096;
    loop_run(a, &r, random_writes(2 * units + 5)); /* some of a stripe is in the buffer, a victim is half done */
    loop_run(a, &r, (struct loop){SATED_READ, 16384, 1000, 16, false});
    CHECK_EQ(sim_save(a, file), 0);
    loop_run(b, &r, random_writes(77)); /* another history, to be forgotten */
    CHECK_EQ(sim_restore(b, file), 0);
    struct sim *c = loop_open(file);
    CHECK(same_counters(a, b) && same_counters(a, c));
    CHECK_EQ(sim_capacity(c), sim_capacity(a));
    CHECK_EQ(sim_now_ns(c), sim_now_ns(a));
    r2 = r3 = r;
    uint64_t digest = loop_run(a, &r, random_writes(units)).digest;
    CHECK(loop_run(b, &r2, random_writes(units)).digest == digest);
    CHECK(loop_run(c, &r3, random_writes(units)).digest == digest);
    CHECK(same_counters(a, b) && same_counters(a, c));
    CHECK_EQ(sim_energy_nj(a, sim_now_ns(a) + 1000000), sim_energy_nj(c, sim_now_ns(c) + 1000000));
    CHECK(loop_run(b, &r2, random_writes(units)).digest != digest); /* other addresses: the digest can tell */
    sim_free(a);
    sim_free(b);
    sim_free(c);
    unlink(file);
    unlink("./test_sim_state.sim.lock");
}

static void refused(const char *spec, int code, const char *part)
{
    struct sim *s;
    struct sated_detail d = {0};
    int rc = sim_new(&s, spec);
    CHECK_EQ(rc, code);
    CHECK(s == NULL);
    sated_detail_get(&d);
    if (code == SATED_STATE) /* the file is the drive: its refusals are those of a drive, and no error of the library */
        CHECK_EQ(sated_error_exit_code(d.code, d.layer), 4);
    CHECK_TEXT(d.text, part);
    if (!strstr(d.text, part))
        printf("%s: %s\n", spec, d.text);
}

static void check_refusals(void)
{
    refused("generic,op=0", SATED_PARSE, "T - U = 0 pages are spare");
    refused("generic,op=0.000001,timing=off", SATED_PARSE, "choose a greater op");
    refused("x210,op=0", SATED_PARSE, "garbage collection needs");
    refused("x210,op=0.5", SATED_PARSE, "bytes of flash, and there are 274877906944");
    refused("x209", SATED_PARSE, "did you mean sim:x210?");
    refused("nothinglikeit", SATED_PARSE, "lists the models");
    refused("x210,scael=1/64", SATED_PARSE, "did you mean scale?");
    refused("generic,page_per_block=64", SATED_PARSE, "did you mean pages_per_block?");
    refused("x210,scale=1/128", SATED_PARSE, "the smallest scale of this model is 1/64");
    refused("generic,scale=1/16", SATED_PARSE, "256 are needed, and the smallest scale of this model is 1/8");
    refused("generic,blocks=400,scale=1/2", SATED_PARSE, "leave scale out");
    sim_free(loop_open("generic,scale=1/8"));
    refused("x210,scale=2", SATED_PARSE, "1/64");
    refused("x210,capacity=500GB", SATED_PARSE, "the sizes are 256GB, 128GB");
    refused("generic,capacity=1GB", SATED_PARSE, "takes no capacity");
    refused("x210,blocks=4096", SATED_PARSE, "takes no blocks");
    refused("x210,lba=80", SATED_PARSE, "write it like 80% or 0.8");
    refused("x210,lba=0", SATED_PARSE, "no accessible fraction");
    refused("generic,streams=9", SATED_PARSE, "a number from 1 to 7");
    refused("generic,streams=3,hot=20%", SATED_PARSE, "leave hot out, or give 1 or 2 streams");
    refused("generic,wear_levelling=on", SATED_PARSE, "one of off, dynamic, static");
    refused("generic,gc=best", SATED_PARSE, "greedy, fifo, random, d-choices:N, cost-benefit, windowed:W");
    refused("generic,gc=d-choices", SATED_PARSE, "d-choices:N");
    refused("generic,gc=greedy:3", SATED_PARSE, "greedy, fifo");
    refused("generic,channels=0", SATED_PARSE, "from 1 to 64");
    refused("generic,page=3k", SATED_PARSE, "power of two");
    refused("generic,op=0.07,op=0.28", SATED_PARSE, "given twice");
    refused("generic,op", SATED_PARSE, "no key=value");
    refused("", SATED_PARSE, "needs the name of a model");
    refused("./there/is.sim", -ENOENT, "./there/is.sim");
    refused("./my.sim,scale=1/64", SATED_PARSE, "knows its model and keys already");
}

static void flip(long at)
{
    FILE *f = fopen(file, "r+b");
    CHECK(f != NULL);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
}

static long size_of(const char *path)
{
    struct stat st;
    CHECK_EQ(stat(path, &st), 0);
    return (long)st.st_size;
}

/* Of the name, the model's text and the keys, whose lengths are in the header from byte 12 on. */
static long text_bytes(const char *path)
{
    uint32_t n[3];
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    fseek(f, 12, SEEK_SET);
    CHECK_EQ(fread(n, sizeof *n, 3, f), 3);
    fclose(f);
    return (long)n[0] + n[1] + n[2];
}

static void check_state_file(void)
{
    char spec[128];
    struct sim *s, *second;
    struct random r;
    unlink(file);
    snprintf(spec, sizeof spec, "generic,blocks=256,lba=50%%,state=%s", file);
    random_seed(&r, 2, 0);
    s = loop_open(spec);
    CHECK_EQ(sim_new(&second, spec), -EBUSY);
    /* By whatever name: the file is what is locked. */
    char other[128];
    CHECK_EQ(symlink("test_sim_state.sim", "./test_sim_other.sim"), 0);
    CHECK_EQ(sim_new(&second, "./test_sim_other.sim"), -EBUSY);
    snprintf(other, sizeof other, "generic,blocks=256,state=./test_sim_other.sim");
    CHECK_EQ(sim_new(&second, other), -EBUSY);
    loop_run(s, &r, random_writes(5000));
    int64_t now = sim_now_ns(s);
    uint64_t half = sim_capacity(s);
    sim_free(s);
    unlink("./test_sim_other.sim");
    s = loop_open(file);
    CHECK_EQ(sim_now_ns(s), now);
    CHECK_EQ(sim_capacity(s), half);
    CHECK_EQ(sim_set_capacity(s, sim_native_capacity(s)), 0);
    sim_free(s);
    snprintf(spec, sizeof spec, "generic,blocks=256,state=%s", file);
    s = loop_open(spec);
    CHECK_EQ(sim_now_ns(s), now);
    CHECK_EQ(sim_capacity(s), sim_native_capacity(s));
    sim_free(s);
    snprintf(spec, sizeof spec, "generic,blocks=257,state=%s", file);
    refused(spec, SATED_STATE, "not this drive");

    FILE *f;
    flip(40000);
    refused(file, SATED_STATE, "checksum");
    flip(40000);
    flip(size_of(file) - 1);
    refused(file, SATED_STATE, "checksum");
    flip(size_of(file) - 1);
    /* The name, the text and the keys lie behind the header of 40 bytes: no sense is made of them where they are
     * damaged. The first byte of the name is behind the header; the last of the keys before the FTL's. */
    for (long at = 40; at < 40 + text_bytes(file); at += 7) {
        flip(at);
        refused(file, SATED_STATE, "checksum");
        flip(at);
    }
    sim_free(loop_open(file));
    f = fopen(file, "r+b");
    fseek(f, 8, SEEK_SET);
    fputc(99, f);
    fclose(f);
    refused(file, SATED_STATE, "its schema is 99");
    f = fopen(file, "r+b");
    fseek(f, 8, SEEK_SET);
    fputc(1, f);
    fclose(f);
    refused(file, SATED_STATE, "written by an older sated");
    f = fopen(file, "wb");
    fputs("something else that is longer than a header would be", f);
    fclose(f);
    refused(file, SATED_STATE, "does not begin like one");
    unlink(file);
    unlink("./test_sim_state.sim.lock");
}

static void check_purge_trim_limit(void)
{
    struct sim *s = loop_open("x210,scale=1/64,seed=5");
    struct sated_sim_counters c, before;
    struct random r;
    uint32_t tag;
    int64_t now;
    int status;
    random_seed(&r, 2, 0);
    sim_get_counters(s, &before);
    uint64_t units = sim_capacity(s) / 4096;
    CHECK_EQ(sim_native_capacity(s), 256060514304 / 4096 / 64 * 4096);
    loop_fill(s, &r);
    loop_run(s, &r, random_writes(units / 4));
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, units);
    CHECK_EQ(c.served_writes, units / 4);
    CHECK_EQ(c.written_bytes, units / 4 * 4096);
    CHECK_EQ(c.host_write_units, units / 4);
    CHECK_EQ(c.nand_write_units, c.host_write_units + c.gc_write_units);
    CHECK(c.erases > 0 && c.gc_write_units > 0);

    CHECK_EQ(sim_set_capacity(s, units / 2 * 4096), 0);
    CHECK_EQ(sim_mapped_beyond(s), units - units / 2);
    CHECK_EQ(sim_submit(s, 0, SATED_READ, units / 2 * 4096, 4096), -EINVAL);
    CHECK_EQ(sim_submit(s, 0, SATED_READ, 100, 4096), -EINVAL);
    CHECK_EQ(sim_submit(s, 7, SATED_TRIM, 512, 3 * 4096), 0); /* covers two units whole, and two in part */
    CHECK(sim_next(s, &tag, &now, &status) && tag == 7 && status == 0);
    CHECK(!sim_next(s, &tag, &now, &status));
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, units - 2);
    CHECK_EQ(c.served_trims, 1);
    CHECK_EQ(c.trimmed_bytes, 3 * 4096);
    CHECK(sim_set_capacity(s, sim_native_capacity(s) + 4096) < 0);

    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, 0, 4096), 0);
    CHECK_EQ(sim_purge(s), SATED_STATE);
    CHECK_EQ(sim_set_capacity(s, 4096), SATED_STATE);
    CHECK_EQ(sim_save(s, file), SATED_STATE);
    CHECK(sim_next(s, &tag, &now, &status));

    now = sim_now_ns(s);
    CHECK_EQ(sim_purge(s), 0);
    CHECK_EQ((sim_now_ns(s) - now) * sim_scale(s), 8000000000); /* purge_s of the model, reported */
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, 0);
    CHECK_EQ(sim_mapped_beyond(s), 0);
    CHECK_EQ(c.free_blocks, before.free_blocks);
    CHECK_EQ(sim_set_capacity(s, sim_native_capacity(s)), 0);
    CHECK_NEAR(loop_run(s, &r, random_writes(units / 4)).write_amplification, 1, 1e-9);
    sim_free(s);
}

static void check_power(void)
{
    struct sim *s = loop_open("x210,scale=1/64,devslp_after_ms=0");
    struct sated_sim_counters c;
    uint32_t tag;
    int64_t now;
    int status;
    /* The data sheet's idle power, 80 mW. */
    sim_idle_until(s, 10000000000);
    CHECK_EQ(sim_energy_nj(s, 10000000000), 800000000);
    CHECK_EQ(sim_energy_nj(s, 20000000000), 1600000000);
    /* One unit is answered when it is in the buffer, which a power cut empties. */
    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, 0, 4096), 0);
    CHECK(sim_next(s, &tag, &now, &status));
    sim_power_cycle(s);
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, 0);
    /* Left alone, the drive programs it. */
    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, 0, 4096), 0);
    CHECK(sim_next(s, &tag, &now, &status));
    sim_idle_until(s, sim_now_ns(s) + 1000000000);
    sim_power_cycle(s);
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, 1);
    sim_free(s);
    /* Alone means since the last command, in however many pieces somebody looked at the clock meanwhile. */
    uint64_t energy[2];
    for (int pieces = 1; pieces <= 20; pieces += 19) {
        s = loop_open("generic,blocks=256");
        for (uint64_t i = 0; i < 5; i++)
            CHECK(sim_submit(s, 0, SATED_WRITE, i * 4096, 4096) == 0 && sim_next(s, &tag, &now, &status));
        for (int i = 0; i < pieces; i++)
            sim_idle_until(s, now + 1000000000 / pieces * (i + 1));
        energy[pieces > 1] = sim_energy_nj(s, sim_now_ns(s));
        sim_power_cycle(s);
        sim_get_counters(s, &c);
        CHECK_EQ(c.mapped_units, 5);
        sim_free(s);
    }
    CHECK_EQ(energy[0], energy[1]);
    /* 0.5 W for 40 million seconds: more pJ than 64 bits hold. */
    s = loop_open("generic,blocks=256");
    sim_idle_until(s, 40000000000000000);
    CHECK_EQ(sim_energy_nj(s, 40000000000000000), 20000000000000000);
    sim_idle_until(s, 80000000000000000);
    CHECK_EQ(sim_energy_nj(s, 120000000000000000), 60000000000000000);
    sim_free(s);
    s = loop_open("x210,scale=1/64,capacitors=on");
    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, 0, 4096), 0);
    CHECK(sim_next(s, &tag, &now, &status));
    sim_power_cycle(s);
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, 1);
    sim_free(s);
}

/* One read at a time: the firmware, one read of the flash, one transfer; and none of these where there is no data. */
static void check_latency(void)
{
    struct sim *s = loop_open("x210,scale=1/64,coverage=1,devslp_after_ms=0");
    struct random r;
    random_seed(&r, 1, 0);
    uint64_t units = sim_capacity(s) / 4096;
    struct loop one = {SATED_READ, 4096, 1000, 1, false};
    CHECK_NEAR(1e6 / loop_run(s, &r, one).iops, 14.5, 1e-9);
    loop_fill(s, &r);
    sim_idle_until(s, sim_now_ns(s) + 1000000000);
    CHECK_NEAR(1e6 / loop_run(s, &r, one).iops, 14.5 + 75 + 10, 1e-9);
    /* Many small parts of units: each is read before it is written. */
    double whole = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units / 10, 1, false}).iops;
    double part = loop_run(s, &r, (struct loop){SATED_WRITE, 512, units / 10, 1, false}).iops;
    CHECK(1 / part > 1 / whole + 80e-6);
    sim_free(s);
}

static void check_identity(void)
{
    struct sated_identity a, b;
    struct sim *s = loop_open("x210"), *t = loop_open("x210,capacity=128GB,seed=2,lba=80%");
    sim_identify(s, &a);
    sim_identify(t, &b);
    CHECK(!strcmp(a.vendor, "SanDisk") && !strcmp(a.model, "X210 256GB (simulated)"));
    CHECK(!strcmp(b.model, "X210 128GB (simulated)"));
    CHECK(!strncmp(a.serial, "SIM", 3) && strcmp(a.serial, b.serial));
    CHECK_EQ(a.capacity_bytes, 500118192ULL * 512); /* IDEMA LBA1-03 for 256 GB, and for 128 GB below */
    CHECK_EQ(b.native_capacity_bytes, 250069680ULL * 512);
    CHECK_EQ(b.capacity_bytes, (uint64_t)(250069680 / 8 * 0.8) * 4096);
    CHECK_EQ(a.raw_bytes, 256ULL << 30);
    CHECK_EQ(a.logical_block_bytes, 512);
    CHECK_EQ(a.physical_block_bytes, 4096);
    CHECK(a.protocol == SATED_PROTOCOL_ATA && !strcmp(a.transport, "sata") && !strcmp(a.link, "6.0 Gb/s"));
    sim_free(s);
    sim_free(t);
}

static void check_models(void)
{
    struct sated_detail d;
    int found = 0;
    for (size_t i = 0; sated_sim_model_name(i); i++) {
        CHECK(sated_sim_model_text(sated_sim_model_name(i)) != NULL);
        found += !strcmp(sated_sim_model_name(i), "generic") || !strcmp(sated_sim_model_name(i), "x210");
    }
    CHECK_EQ(found, 2);
    CHECK(sated_sim_model_text("none") == NULL);
    const char *generic = sated_sim_model_text("generic");
    CHECK_EQ(sated_sim_add_model("x210", generic), SATED_PARSE);
    CHECK_EQ(sated_sim_add_model("a/b", generic), SATED_PARSE);
    CHECK_EQ(sated_sim_add_model("mine", generic), 0);
    CHECK(!strcmp(sated_sim_model_text("mine"), generic));
    sim_free(loop_open("mine,blocks=300,timing=off"));
    CHECK_EQ(sated_sim_add_model("bad", "[flash]\nread_us = { value = 1 }\n"), SATED_PARSE);
    sated_detail_get(&d);
    CHECK_TEXT(d.text, "bad:2: flash.read_us.value needs an origin");
    CHECK_EQ(sated_sim_add_model("bad", "\n[flash]\nraed_us = { value = 1, origin = \"fitted\" }\n"), SATED_PARSE);
    sated_detail_get(&d);
    CHECK_TEXT(d.text, "bad:3: flash.raed_us.value is not a parameter; did you mean read_us?");
    CHECK_EQ(sated_sim_add_model("bad", ""), SATED_PARSE);
}

int main(void)
{
    check_goes_on("x210,scale=1/64,lba=70%");
    check_goes_on("generic,blocks=512");
    check_goes_on("generic,blocks=512,gc=d-choices:3");
    check_goes_on("generic,blocks=512,gc=cost-benefit");
    check_goes_on("generic,blocks=512,gc=windowed:50");
    check_goes_on("generic,blocks=512,streams=5");
    check_goes_on("generic,blocks=512,streams=2,hot=10%,wear_levelling=static,wear_threshold=3");
    check_goes_on("generic,blocks=512,gc=fifo,coverage=0.5,buffer_stripes=2");
    check_goes_on("generic,blocks=512,timing=off,gc=random,domain=channel");
    check_refusals();
    check_state_file();
    check_purge_trim_limit();
    check_power();
    check_latency();
    check_identity();
    check_models();
    return check_done();
}
