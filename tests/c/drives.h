/* SPDX-License-Identifier: MIT */
/* What the tests of drives share: opening them, files to open, refusals. */
#ifndef SATED_TESTS_DRIVES_H
#define SATED_TESTS_DRIVES_H

#include <fcntl.h>

#include <sated/sated.h>

#include "check.h"
#include "tree.h"

#define MIB ((uint64_t)1 << 20)

static struct sated_detail detail;

/* Fails with this code, and says this. */
static inline void check_refusal(int rc, int code, const char *part, int line)
{
    sated_detail_get(&detail);
    if (rc != code || detail.code != code || !strstr(detail.text, part))
        printf("line %d: %d (%s) %s\n", line, rc, sated_error_name(rc), detail.text);
    CHECK(rc == code && detail.code == code && strstr(detail.text, part));
}
#define REFUSED(rc, code, part) check_refusal(rc, code, part, __LINE__)

static inline int open_code(const char *uri, uint64_t create)
{
    struct sated_drive *d = (void *)1;
    struct sated_drive_options opt;
    sated_drive_options_init(&opt);
    opt.create_bytes = create;
    int rc = sated_drive_open(&d, uri, &opt);
    CHECK((rc == 0) == (d != NULL));
    sated_drive_close(d);
    return rc;
}

static inline struct sated_drive *open_drive(const char *uri)
{
    struct sated_drive *d;
    int rc = sated_drive_open(&d, uri, NULL);
    if (rc) {
        sated_detail_get(&detail);
        printf("%s: %s\n", uri, detail.text);
        exit(1);
    }
    return d;
}

static inline char *make_file(const char *name, uint64_t bytes)
{
    char *path = in("%s", name), block[4096];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    memset(block, 'x', sizeof block);
    for (uint64_t at = 0; at < bytes; at += sizeof block) {
        size_t n = bytes - at < sizeof block ? bytes - at : sizeof block;
        CHECK(write(fd, block, n) == (ssize_t)n);
    }
    CHECK(fsync(fd) == 0);
    close(fd);
    return path;
}

/* Open now, to see that none is forgotten. */
static inline int descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n;
}

#endif
