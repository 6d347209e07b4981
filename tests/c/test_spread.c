/* SPDX-License-Identifier: MIT */
/* What is drawn, operations, sizes and addresses, against their closed forms, by the path of the batch engines and by
 * that of the others; and that the same test finds a bias. Over 1e6 draws with three seeds, and a bias of 3 %; with the
 * argument 10000000 over as many, with ten seeds, and a bias of 1 %. */
#include "load/inflight.h"
#include "loads.h"

#define MANY 10000000
#define BINS_MAX 8192
#define LEAST 2000 /* draws that a bin expects */

/* p > 1e-4, one-sided. */
#define Z_MAX 3.72

static const uint64_t seeds[] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
enum { SEEDS = sizeof seeds / sizeof *seeds };

static uint32_t draws = MANY / 10;
static int n_seeds = 3;
/* One of so many is moved, so that draws x bias^2 is always the same. */
static uint32_t bias_one_of;

/* One thread of a load, without a drive. What is scattered lies in the same places for all seeds. */
struct drawer {
    struct sated_load *load;
    struct worker *worker;
    struct inflight *inflight;
    const struct kind *kinds[INFLIGHT_RUN];
    uint64_t offsets[INFLIGHT_RUN];
};

struct entry {
    const struct kind *kind;
    uint64_t offset;
};

static void put(void *entry, struct slot *slot, const struct kind *kind, uint8_t *memory, bool carries)
{
    (void)carries;
    (void)memory;
    *(struct entry *)entry = (struct entry){kind, slot->offset};
}

static int set_all(struct sated_workload *w, const char *const *pairs)
{
    int rc = 0;
    sated_workload_init(w);
    for (; !rc && *pairs; pairs++) {
        char key[32];
        const char *equals = strchr(*pairs, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *pairs), *pairs);
        rc = sated_workload_set(w, key, equals + 1);
    }
    return rc ? rc : sated_workload_check(w);
}

static int drawer_begin(struct drawer *d, const char *const *pairs, uint64_t bytes, uint64_t seed)
{
    static const uint32_t opcodes[SATED_OPS];
    d->load = calloc(1, sizeof *d->load);
    d->worker = aligned_alloc(_Alignof(struct worker), sizeof *d->worker);
    d->inflight = calloc(1, sizeof *d->inflight);
    memset(d->worker, 0, sizeof *d->worker);
    struct member *m = &d->load->members[0];
    m->load = d->load;
    d->worker->member = m;
    d->worker->depth = INFLIGHT_RUN;
    int rc = set_all(&d->load->workload, pairs);
    if (rc)
        return rc;
    mix_init(&d->load->mix, &d->load->workload);
    rc = address_range_init(&m->range, &d->load->workload, &d->load->mix, bytes, 512, 1, "drive");
    if (rc)
        return rc;
    random_seed(&d->worker->random, seed, 0);
    address_init(&d->worker->address, &m->range, 0, 1);
    d->load->workload.data = SATED_DATA_ZEROS;
    CHECK_EQ(data_init(&d->worker->data, &d->load->workload, &d->load->mix, INFLIGHT_RUN, INFLIGHT_RUN, seed, 0), 0);
    CHECK_EQ(inflight_init(d->inflight, d->worker, opcodes, true), 0);
    return 0;
}

static void drawer_end(struct drawer *d)
{
    inflight_free(d->inflight);
    data_free(&d->worker->data);
    address_range_free(&d->worker->member->range);
    free(d->inflight);
    free(d->worker);
    free(d->load);
}

/* The closed form: of each place and direction, and of flushes. */
struct law {
    uint64_t places;
    double *of[2];
    double flush;
    uint16_t *bin[2];
    uint32_t bins;
    double expected[BINS_MAX];
};

static struct law law = {.of = {NULL}};

/* Neighbouring places together, until enough draws are expected; what is left over goes to the last one. */
static void make_bins(void)
{
    law.bins = 0;
    memset(law.expected, 0, sizeof law.expected);
    for (int d = 0; d < 2; d++) {
        double left = 0;
        for (uint64_t i = 0; i < law.places; i++)
            left += law.of[d][i] * draws;
        if (left < LEAST)
            continue;
        for (uint64_t i = 0; i < law.places; i++) {
            law.bin[d][i] = (uint16_t)law.bins;
            law.expected[law.bins] += law.of[d][i] * draws;
            left -= law.of[d][i] * draws;
            if (law.expected[law.bins] >= LEAST && left >= LEAST)
                law.bins++;
        }
        law.bins++;
    }
    if (law.flush > 0)
        law.expected[law.bins++] = law.flush * draws;
    CHECK(law.bins > 1 && law.bins < BINS_MAX);
}

/* @param bias some draws in an odd bin count in its even neighbour */
static uint32_t biased(uint32_t bin, struct random *bias)
{
    return bias && bin & 1 && random_below(bias, bias_one_of) == 0 ? bin - 1 : bin;
}

/* @param batch by the path of the batch engines */
static void draw(const char *const *pairs, uint64_t bytes, uint64_t seed, bool batch, struct random *bias,
                 uint64_t *classes, uint64_t *bins)
{
    struct drawer d;
    struct entry entries[INFLIGHT_RUN];
    uint64_t wrong = 0;
    CHECK_EQ(drawer_begin(&d, pairs, bytes, seed), 0);
    const struct mix *mix = &d.load->mix;
    const struct address_range *range = &d.worker->member->range;
    uint32_t unit = range->spread ? range->how.unit : range->align, shift = (uint32_t)__builtin_ctz(unit);
    memset(classes, 0, MIX_CLASSES * sizeof *classes);
    memset(bins, 0, BINS_MAX * sizeof *bins);
    for (uint32_t i = 0; i < draws; i += INFLIGHT_RUN) {
        if (batch) {
            CHECK_EQ(inflight_fill(d.inflight, d.worker, INFLIGHT_RUN, d.inflight->variant, false, entries,
                                   sizeof *entries, put),
                     INFLIGHT_RUN);
            d.inflight->free_tail += INFLIGHT_RUN;
        }
        for (uint32_t j = 0; j < INFLIGHT_RUN; j++) {
            if (!batch) {
                uint32_t class = mix_draw(mix, &d.worker->random);
                entries[j].kind = &d.inflight->kinds[class];
                entries[j].offset = address_next(&d.worker->address, range, &d.worker->random, mix->op[class], class,
                                                 mix->bytes[class]);
            }
            const struct kind *kind = entries[j].kind;
            uint64_t offset = entries[j].offset, place = (offset - range->first) >> shift;
            bool flush = kind->op == SATED_FLUSH;
            classes[biased(kind->class, bias)]++;
            if (flush ? offset != 0
                      : (offset & (unit - 1)) != 0 || offset < range->first || offset + kind->bytes > range->end)
                wrong++;
            else
                bins[biased(flush ? law.bins - 1 : law.bin[kind->op != SATED_READ][place], bias)]++;
        }
    }
    CHECK_EQ(wrong, 0);
    drawer_end(&d);
}

static double z_of_classes(const struct mix *mix, const uint64_t *classes)
{
    double expected[MIX_CLASSES];
    for (uint32_t i = 0; i < mix->n; i++)
        expected[i] = mix->share[i] * draws;
    return mix->n > 1 ? chi_square_z(classes, expected, mix->n) : 0;
}

/* All seeds, then the first one with a bias; `law` says what is right. */
static void examine(const char *name, const char *const *pairs, uint64_t bytes, bool both)
{
    static uint64_t classes[MIX_CLASSES], bins[BINS_MAX];
    static struct mix mix;
    struct sated_workload w;
    struct random bias;
    double worst = -9;
    CHECK_EQ(set_all(&w, pairs), 0);
    mix_init(&mix, &w);
    for (int i = 0; i < n_seeds; i++) {
        for (int batch = both ? 0 : 1; batch < 2; batch++) {
            draw(pairs, bytes, seeds[i], batch, NULL, classes, bins);
            double of_classes = z_of_classes(&mix, classes), of_places = chi_square_z(bins, law.expected, law.bins);
            CHECK(of_classes < Z_MAX);
            CHECK(of_places < Z_MAX);
            worst = fmax(worst, fmax(of_classes, of_places));
            for (uint32_t c = 0; c < mix.n; c++)
                CHECK(fabs((double)classes[c] / draws - mix.share[c]) < 0.001 * sqrt((double)MANY / draws));
        }
    }
    random_seed(&bias, 1, 1);
    draw(pairs, bytes, seeds[0], true, &bias, classes, bins);
    double of_classes = z_of_classes(&mix, classes), of_places = chi_square_z(bins, law.expected, law.bins);
    CHECK(mix.n < 2 || of_classes > Z_MAX);
    CHECK(of_places > Z_MAX);
    printf("# %s: %u classes, %u bins, z %.2f at most; one of %u biased: %.1f, %.1f\n", name, mix.n, law.bins, worst,
           bias_one_of, of_classes, of_places);
}

/* The law of a share of each class, over the places of a range: where[d](place) is normalised here. */
static void law_of(const char *const *pairs, uint64_t bytes,
                   double (*of)(uint32_t direction, uint64_t place, uint64_t n))
{
    struct drawer d;
    CHECK_EQ(drawer_begin(&d, pairs, bytes, 1), 0);
    const struct mix *mix = &d.load->mix;
    const struct address_range *range = &d.worker->member->range;
    law.places = range->places[0];
    for (uint32_t c = 0; c < mix->n; c++)
        if (range->places[c] > law.places)
            law.places = range->places[c];
    law.flush = 0;
    for (int i = 0; i < 2; i++) {
        free(law.of[i]);
        free(law.bin[i]);
        law.of[i] = calloc(law.places, sizeof *law.of[i]);
        law.bin[i] = calloc(law.places, sizeof *law.bin[i]);
    }
    double share[2] = {0}, sum[2] = {0};
    for (uint32_t c = 0; c < mix->n; c++) {
        int direction = mix->op[c] != SATED_READ;
        if (mix->op[c] == SATED_FLUSH)
            law.flush = mix->share[c];
        else if (of)
            share[direction] += mix->share[c];
        else
            for (uint64_t i = 0; i < range->places[c]; i++) /* uniform in what the size leaves */
                law.of[direction][i] += mix->share[c] / (double)range->places[c];
    }
    for (uint32_t i = 0; of && i < 2; i++) {
        const struct spread *s = &range->how;
        /* Segments hide between the places: of() counts the places that are used. */
        for (uint64_t rank = 0; rank < s->places; rank++)
            sum[i] += of(i, rank, s->places);
        for (uint64_t rank = 0; rank < s->places; rank++) {
            uint64_t place = s->scattered ? shuffle_at(&s->shuffle, rank, s->key) : rank;
            uint64_t segment = place / s->segment, at = segment * s->pitch / s->unit + place % s->segment;
            law.of[i][at] = share[i] * of(i, rank, s->places) / sum[i];
        }
    }
    drawer_end(&d);
    make_bins();
}

static double zipf(uint32_t direction, uint64_t rank, uint64_t n)
{
    (void)direction;
    (void)n;
    return pow((double)(rank + 1), -0.9);
}

static double steep_zipf(uint32_t direction, uint64_t rank, uint64_t n)
{
    (void)direction;
    (void)n;
    return pow((double)(rank + 1), -1.3);
}

/* A share of 0.8 to 0.2 of the places: x^(ln 0.8 / ln 0.2) up to a fraction x of them. */
static double pareto(uint32_t direction, uint64_t rank, uint64_t n)
{
    (void)direction;
    double slope = log(0.8) / log(0.2);
    return pow((double)(rank + 1) / (double)n, slope) - pow((double)rank / (double)n, slope);
}

static double normal(uint32_t direction, uint64_t place, uint64_t n)
{
    (void)direction;
    double sigma = 0.15 * (double)n, at = (double)place - (double)n / 2;
    return erf((at + 1) / sigma / sqrt(2)) - erf(at / sigma / sqrt(2));
}

static double even(uint32_t direction, uint64_t place, uint64_t n)
{
    (void)direction;
    (void)place;
    return 1 / (double)n;
}

/* The reads' zones and the writes' of a published example, and a hot spot of one block for trims and writes. */
static double in_zones(const double (*zones)[2], size_t n_zones, uint64_t place, uint64_t n)
{
    double from = 0;
    for (size_t i = 0; i < n_zones; i++) {
        double to = from + zones[i][1] * (double)n;
        if ((double)place >= round(from) && (double)place < round(to))
            return zones[i][0] / (round(to) - round(from));
        from = to;
    }
    return 0;
}

static double snia(uint32_t direction, uint64_t place, uint64_t n)
{
    static const double zones[][2] = {{0.5, 0.05}, {0.3, 0.15}, {0.2, 0.8}};
    (void)direction;
    return in_zones(zones, 3, place, n);
}

static double by_direction(uint32_t direction, uint64_t place, uint64_t n)
{
    static const double reads[][2] = {{0.6, 0.1}, {0.25, 0.2}, {0.15, 0.7}}, writes[][2] = {{0.4, 0.05}, {0.6, 0.95}};
    return direction ? in_zones(writes, 2, place, n) : in_zones(reads, 3, place, n);
}

static double hot_spot(uint32_t direction, uint64_t place, uint64_t n)
{
    (void)direction;
    return place == 0 ? 0.3 : 0.7 / (double)(n - 1);
}

#define PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void distributions(void)
{
    const uint64_t mib = 1 << 20;
    /* The mixes of the reviews' file and web servers. */
    const char *const *file_server =
        PAIRS("read=0.8", "sizes=512:10,1k:5,2k:5,4k:60,8k:2,16k:4,32k:4,64k:10", "access=random");
    law_of(file_server, 40 * mib, NULL);
    examine("uniform, file server", file_server, 40 * mib, false);
    const char *const *web_server =
        PAIRS("read=1.0", "sizes=512:22,1k:15,2k:8,4k:23,8k:15,16k:2,32k:6,64k:7,128k:1,512k:1", "access=zipf",
              "theta=0.9");
    law_of(web_server, 50 * mib, zipf);
    examine("zipf 0.9, web server", web_server, 50 * mib, false);
    const char *const *steep = PAIRS("read=0.7", "size=4k", "access=zipf", "theta=1.3");
    law_of(steep, 1000003 * UINT64_C(4096), steep_zipf);
    examine("zipf 1.3", steep, 1000003 * UINT64_C(4096), false);
    const char *const *fifth = PAIRS("read=0.5", "sizes=6k:50,10k:50", "access=pareto", "h=0.2");
    law_of(fifth, 300 * mib, pareto);
    examine("pareto", fifth, 300 * mib, false);
    const char *const *bell = PAIRS("op=randwrite", "size=4k", "access=normal", "stddev=15%");
    law_of(bell, 77777 * UINT64_C(4096), normal);
    examine("normal", bell, 77777 * UINT64_C(4096), false);
    const char *const *snia_zones = PAIRS("read=0.4", "size=4k", "zones=50:5,30:15,20:80");
    law_of(snia_zones, 300 * mib, snia);
    examine("zones", snia_zones, 300 * mib, false);
    const char *const *directions = PAIRS("read=0.4", "write=0.3", "trim=0.15", "write_zeroes=0.1", "flush=0.05",
                                          "size=4k", "read_zones=60:10,25:20,15:", "write_zones=40:5,60:");
    law_of(directions, 300 * mib, by_direction);
    examine("zones by direction, five operations", directions, 300 * mib, false);
    const char *const *hot = PAIRS("op=randwrite", "size=8k", "zones=30:8k,70:");
    law_of(hot, 300 * mib, hot_spot);
    examine("a hot spot of one block", hot, 300 * mib, false);
    const char *const *segments = PAIRS("read=0.65", "size=4k", "access=random", "active=100MiB", "segments=37");
    law_of(segments, 300 * mib, even);
    examine("segments", segments, 300 * mib, false);
}

/* 64 sizes and five operations at once: 4 x 64 + 1 classes. */
static void many_classes(void)
{
    char sizes[1024] = "sizes=";
    for (int i = 1; i <= 64; i++)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%d:%s", i > 1 ? "," : "", i * 512,
                 i <= 56 ? "1.5" : "2");
    const char *const *all = PAIRS("read=0.3", "write=0.3", "trim=0.2", "write_zeroes=0.1", "flush=0.1", sizes);
    law_of(all, 32 << 20, NULL);
    examine("64 sizes", all, 32 << 20, true);
}

/* Every block once in each pass, whatever the threads; the passes differ; and neighbours in time are none in space. */
static void permutation(void)
{
    enum { BLOCKS = 100003, THREADS = 3, CELLS = 32 };
    const char *const *pairs = PAIRS("op=randread", "size=6k", "access=permutation", "threads=3");
    static uint32_t seen[BLOCKS], places[2][BLOCKS];
    static uint64_t pairs_seen[CELLS * CELLS];
    static double expected[CELLS * CELLS];
    struct drawer d;
    struct address a[THREADS];
    CHECK_EQ(drawer_begin(&d, pairs, BLOCKS * UINT64_C(6144) + 512, 7), 0);
    const struct address_range *range = &d.worker->member->range;
    for (uint32_t t = 0; t < THREADS; t++)
        address_init(&a[t], range, t, THREADS);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            uint64_t at =
                address_next(&a[(pass * BLOCKS + i) % THREADS], range, &d.worker->random, SATED_READ, 0, 6144);
            CHECK(at % 6144 == 0 && at / 6144 < BLOCKS);
            places[pass][i] = (uint32_t)(at / 6144);
            seen[places[pass][i]]++;
        }
        uint32_t once = 0;
        for (uint32_t i = 0; i < BLOCKS; i++)
            once += seen[i] == pass + 1;
        CHECK_EQ(once, BLOCKS);
        memset(pairs_seen, 0, sizeof pairs_seen);
        for (uint32_t i = 1; i < BLOCKS; i++)
            pairs_seen[(uint64_t)places[pass][i - 1] * CELLS / BLOCKS * CELLS +
                       (uint64_t)places[pass][i] * CELLS / BLOCKS]++;
        for (int i = 0; i < CELLS * CELLS; i++)
            expected[i] = (BLOCKS - 1.0) / (CELLS * CELLS);
        CHECK(fabs(chi_square_z(pairs_seen, expected, CELLS * CELLS)) < Z_MAX);
    }
    uint32_t same = 0;
    for (uint32_t i = 0; i < BLOCKS; i++)
        same += places[0][i] == places[1][i];
    CHECK(same < 12); /* Poisson of mean 1 */
    drawer_end(&d);
    /* A bijection of any number of places. */
    for (uint64_t n = 1; n < 300; n++) {
        struct shuffle s;
        bool hit[300] = {false};
        uint32_t distinct = 0;
        shuffle_init(&s, n);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = shuffle_at(&s, i, 0x123456789abcdef0u * n);
            distinct += at < n && !hit[at];
            hit[at < n ? at : 0] = true;
        }
        CHECK_EQ(distinct, n);
    }
}

/* Streams take turns and begin at even distances; segments follow one another, and no I/O lies across their ends. */
static void sequential(void)
{
    struct drawer d;
    struct address a;
    CHECK_EQ(drawer_begin(&d, PAIRS("op=read", "size=4k", "threads=2", "streams=3"), 600 * 4096, 1), 0);
    address_init(&a, &d.worker->member->range, 1, 2);
    for (uint64_t i = 0; i < 3000; i++)
        CHECK_EQ(address_next(&a, &d.worker->member->range, &d.worker->random, SATED_READ, 0, 4096),
                 (300 + i % 3 * 100 + i / 3) % 600 * 4096);
    drawer_end(&d);
    CHECK_EQ(drawer_begin(&d, PAIRS("op=read", "size=12k", "offset=4KiB", "active=400KiB", "segments=4"), 1 << 22, 1),
             0);
    const struct address_range *range = &d.worker->member->range;
    address_init(&a, range, 0, 1);
    CHECK_EQ(range->align, 4096);
    /* 4 x 100 KiB, each of 8 I/Os and a rest, at distances of a quarter of what is behind the offset, aligned. */
    uint64_t pitch = ((1 << 22) - 4096) / 4 / 4096 * 4096;
    for (uint64_t i = 0; i < 100; i++)
        CHECK_EQ(address_next(&a, range, &d.worker->random, SATED_READ, 0, 12288),
                 4096 + i / 8 % 4 * pitch + i % 8 * 12288);
    drawer_end(&d);
    /* One place in each segment, and every segment's. */
    CHECK_EQ(drawer_begin(&d, PAIRS("op=randread", "size=4k", "active=32KiB", "segments=8"), 1 << 20, 1), 0);
    uint32_t hit = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t at =
            address_next(&d.worker->address, &d.worker->member->range, &d.worker->random, SATED_READ, 0, 4096);
        CHECK_EQ(at % (1 << 17), 0);
        hit |= 1u << at / (1 << 17);
    }
    CHECK_EQ(hit, 0xff);
    drawer_end(&d);
}

static void refuses(const char *says, uint64_t bytes, const char *const *pairs)
{
    struct drawer d;
    CHECK_EQ(drawer_begin(&d, pairs, bytes, 1), SATED_PARSE);
    CHECK_TEXT(last_text(), says);
    address_range_free(&d.worker->member->range);
    free(d.inflight);
    free(d.worker);
    free(d.load);
}

static void refused(void)
{
    refuses("takes each block once", 1 << 20, PAIRS("access=permutation", "sizes=4k:50,8k:50"));
    refuses("zone 2 of reads has no room", 1 << 20, PAIRS("size=4k", "zones=50:1m,50:"));
    refuses("zone 1 of reads has no room", 1 << 20, PAIRS("size=4k", "read_zones=100:2m", "write_zones=100:"));
    refuses("more than the", 1 << 20, PAIRS("active=2MiB"));
    refuses("no room for one I/O", 1 << 20, PAIRS("size=128k", "active=512KiB", "segments=8"));
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        draws = (uint32_t)strtoul(argv[1], NULL, 10);
        n_seeds = SEEDS;
    }
    bias_one_of = (uint32_t)lround(100 * sqrt((double)draws / MANY));
    permutation();
    sequential();
    refused();
    many_classes();
    distributions();
    for (int i = 0; i < 2; i++) {
        free(law.of[i]);
        free(law.bin[i]);
    }
    return check_done();
}
