/* SPDX-License-Identifier: MIT */
/* libblkid by dlopen: it knows more signatures than we do. Its functions are declared here, as its header need not be
 * installed where the library is built (util-linux, libblkid/src/blkid.h.in, unchanged since 2.23). */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "transport/calls.h"

#define SUBLKS_TYPE (1 << 5) /* BLKID_SUBLKS_TYPE */
#define FOUND_MAX 64         /* signatures on one disk */

static struct {
    void *(*new_probe)(void);
    void (*free_probe)(void *probe);
    int (*set_device)(void *probe, int fd, int64_t offset, int64_t size); /* blkid_loff_t is int64_t */
    int (*enable_superblocks)(void *probe, int enable);
    int (*set_superblocks_flags)(void *probe, int flags);
    int (*enable_partitions)(void *probe, int enable);
    int (*do_probe)(void *probe); /* 0 found one, 1 no more, -1 error */
    int (*lookup_value)(void *probe, const char *name, const char **data, size_t *n);
} blkid;

static bool have;

static bool take(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol); /* ISO C has no cast from an object pointer to a function's; POSIX has these */
    return symbol != NULL;
}

static void load(void)
{
    void *library = dlopen("libblkid.so.1", RTLD_NOW | RTLD_LOCAL);
    have = library && take(library, "blkid_new_probe", &blkid.new_probe) &&
           take(library, "blkid_free_probe", &blkid.free_probe) &&
           take(library, "blkid_probe_set_device", &blkid.set_device) &&
           take(library, "blkid_probe_enable_superblocks", &blkid.enable_superblocks) &&
           take(library, "blkid_probe_set_superblocks_flags", &blkid.set_superblocks_flags) &&
           take(library, "blkid_probe_enable_partitions", &blkid.enable_partitions) &&
           take(library, "blkid_do_probe", &blkid.do_probe) &&
           take(library, "blkid_probe_lookup_value", &blkid.lookup_value);
}

int blkid_find(int fd, void (*found)(const char *name, void *user), void *user)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!have)
        return -ENOSYS;
    void *probe = blkid.new_probe();
    if (!probe)
        return -ENOMEM;
    int rc = blkid.set_device(probe, fd, 0, 0) || blkid.enable_superblocks(probe, 1) ||
                     blkid.set_superblocks_flags(probe, SUBLKS_TYPE) || blkid.enable_partitions(probe, 1)
                 ? -EIO
                 : 0;
    int more = 0;
    for (int i = 0; !rc && !more && i < FOUND_MAX; i++) {
        const char *name = NULL;
        more = blkid.do_probe(probe);
        if (more < 0)
            rc = -EIO;
        if (!more &&
            (!blkid.lookup_value(probe, "TYPE", &name, NULL) || !blkid.lookup_value(probe, "PTTYPE", &name, NULL)))
            found(name, user);
    }
    blkid.free_probe(probe);
    return rc;
}
