/* SPDX-License-Identifier: MIT */
#include "tools/shim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* Majors that the tools take for what the nodes are (Documentation/admin-guide/devices.txt): 21 is the SCSI generic
 * driver's, 259 that of block devices beyond 16 partitions, such as NVMe; 240 is for local use. */
#define MAJOR_LOCAL 240
#define MAJOR_GENERIC 21
#define MAJOR_BLOCK_EXT 259
#define MINOR 200

#define PIECE (64u * 1024) /* of a long read or write: what one command carries */
#define PATIENCE_MS 10000  /* for another process to give the drive back */

static struct {
    struct sated_drive *drive;
    uint32_t users;
    bool stays;
    struct sated_identity identity;
} sim;

static const char *uri(void)
{
    const char *told = getenv("SATED_SIM_EXEC");
    return told ? told : "";
}

int shim_refuse(int rc)
{
    struct sated_detail detail;
    sated_detail_get(&detail);
    fprintf(stderr, "sated: %s\n", detail.text);
    return rc > -4096 ? rc : -EIO;
}

/* By our own clock, whatever the process calls nanosleep(). */
static void really_wait_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};
    syscall(SYS_nanosleep, &t, NULL);
}

int shim_use(void)
{
    if (sim.users++ || sim.drive)
        return 0;
    int rc = sated_drive_open(&sim.drive, uri(), NULL);
    for (int waited = 0; rc == -EBUSY && waited < PATIENCE_MS; waited += 20) {
        really_wait_ms(20);
        rc = sated_drive_open(&sim.drive, uri(), NULL);
    }
    if (!rc)
        return sated_drive_get_identity(sim.drive, &sim.identity);
    sim.users--;
    return shim_refuse(rc);
}

static void close_unused(void)
{
    if (sim.users || sim.stays || !sim.drive)
        return;
    int rc = sated_drive_close(sim.drive);
    sim.drive = NULL;
    if (rc)
        shim_refuse(rc);
}

void shim_release(void)
{
    sim.users--;
    close_unused();
}

void shim_stay(bool stays)
{
    sim.stays = stays;
    close_unused();
}

/* ---- Nodes ---- */

static bool number(const char **at, uint32_t most, uint32_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long n = strtoul(*at, &end, 10);
    *at = end;
    *out = (uint32_t)n;
    return n <= most;
}

bool shim_path(const char *path, struct shim_node *node)
{
    *node = (struct shim_node){0};
    if (!path || strncmp(path, "/dev/", 5))
        return false;
    path += 5;
    if (!strcmp(path, "sim0") || !strcmp(path, "sgsim0")) {
        node->kind = *path == 's' && path[1] == 'g' ? SHIM_GENERIC : SHIM_BLOCK;
        return true;
    }
    if (strncmp(path, "nvmesim", 7))
        return false;
    path += 7;
    node->kind = SHIM_CONTROLLER;
    if (!number(&path, 1, &node->controller))
        return false;
    if (!*path)
        return true;
    /* The first number of a namespace's node is the subsystem's, of which there is one. */
    node->kind = SHIM_NAMESPACE;
    return *path++ == 'n' && !node->controller && number(&path, UINT32_MAX - 1, &node->nsid) && !*path;
}

bool shim_is_nvme(void)
{
    return sim.identity.protocol == SATED_PROTOCOL_NVME;
}

int shim_scsi(const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    return sated_scsi_raw(sim.drive, c, data, reply);
}

int shim_nvme(const struct shim_node *node, const struct sated_nvme_command *c, void *data, struct sated_reply *reply)
{
    int rc = sated_sim_set_controller(sim.drive, node->controller);
    if (rc)
        return rc;
    return c->admin ? sated_nvme_admin_raw(sim.drive, c, data, reply) : sated_nvme_io_raw(sim.drive, c, data, reply);
}

/* The namespaces that are active on a controller, from one number on (Identify, CNS 02h). */
static int list_active(const struct shim_node *node, uint32_t from, struct sated_nvme_ns_list *out)
{
    static uint8_t list[4096];
    struct sated_nvme_command c;
    struct sated_reply reply;
    int rc = sated_nvme_build_identify(&c, 2, from - 1, 0, 0, 0);
    if (!rc)
        rc = shim_nvme(node, &c, list, &reply);
    if (!rc)
        rc = sated_nvme_decode_ns_list(list, sizeof list, out);
    return rc ? -EIO : 0;
}

int shim_namespaces(const struct shim_node *node, uint32_t *first)
{
    static struct sated_nvme_ns_list list;
    int rc = list_active(node, 1, &list);
    *first = rc || !list.n_nsid ? 0 : list.nsid[0];
    return rc ? rc : (int)list.n_nsid;
}

static bool is_active(uint32_t controller, uint32_t nsid)
{
    static struct sated_nvme_ns_list list;
    const struct shim_node node = {.kind = SHIM_CONTROLLER, .controller = controller};
    return nsid && !list_active(&node, nsid, &list) && list.n_nsid && list.nsid[0] == nsid;
}

/* With several controllers a namespace is reached through the first that has it. */
static int find_controller(struct shim_node *node)
{
    for (node->controller = 0; node->controller < 2; node->controller++)
        if (is_active(node->controller, node->nsid))
            return 0;
    return -ENOENT;
}

int shim_find(struct shim_node *node)
{
    bool nvme = node->kind == SHIM_CONTROLLER || node->kind == SHIM_NAMESPACE;
    if (!sim.identity.protocol || nvme != shim_is_nvme())
        return -ENOENT;
    return node->kind == SHIM_NAMESPACE ? find_controller(node) : 0;
}

void shim_stat(const struct shim_node *node, struct stat *st)
{
    static const struct {
        mode_t type;
        unsigned major;
    } kinds[] = {
        [SHIM_BLOCK] = {S_IFBLK, MAJOR_LOCAL},
        [SHIM_GENERIC] = {S_IFCHR, MAJOR_GENERIC},
        [SHIM_CONTROLLER] = {S_IFCHR, MAJOR_LOCAL},
        [SHIM_NAMESPACE] = {S_IFBLK, MAJOR_BLOCK_EXT},
    };
    memset(st, 0, sizeof *st);
    st->st_mode = kinds[node->kind].type | 0660;
    st->st_nlink = 1;
    st->st_blksize = 4096;
    st->st_rdev = makedev(kinds[node->kind].major, MINOR + node->controller + node->nsid);
    st->st_ino = st->st_rdev;
}

/* ---- Reading and writing ---- */

bool shim_has_blocks(const struct shim_node *node)
{
    return node->kind == SHIM_BLOCK || node->kind == SHIM_NAMESPACE;
}

/* As the kernel's block layer: a unit attention (sense key 6) was told and is over, so the command is sent again. */
static int send_scsi(const struct sated_scsi_command *c, void *data)
{
    struct sated_reply reply;
    struct sated_detail detail;
    int rc = shim_scsi(c, data, &reply);
    for (int again = 0; rc && again < 5; again++) {
        sated_detail_get(&detail);
        if (detail.sense_key != 6)
            break;
        rc = shim_scsi(c, data, &reply);
    }
    return rc ? -EIO : 0;
}

int shim_size(const struct shim_node *node, uint64_t *bytes, uint32_t *block_bytes)
{
    static uint8_t data[4096];
    if (shim_is_nvme()) {
        struct sated_reply reply;
        struct sated_nvme_command c;
        struct sated_nvme_id_ns ns;
        if (sated_nvme_build_identify(&c, 0, node->nsid, 0, 0, 0) || shim_nvme(node, &c, data, &reply) ||
            sated_nvme_decode_id_ns(data, sizeof data, &ns) || !ns.block_bytes)
            return -EIO;
        *block_bytes = ns.block_bytes;
        *bytes = ns.capacity_bytes;
        return 0;
    }
    struct sated_scsi_command c;
    struct sated_scsi_capacity capacity;
    if (sated_scsi_build_read_capacity_16(&c, 32) || send_scsi(&c, data) ||
        sated_scsi_decode_capacity_16(data, 32, &capacity) || !capacity.block_bytes)
        return -EIO;
    *block_bytes = capacity.block_bytes;
    *bytes = (capacity.last_lba + 1) * capacity.block_bytes;
    return 0;
}

static int move(const struct shim_node *node, bool write, void *data, uint32_t bytes, uint64_t offset, uint32_t block)
{
    struct sated_reply reply;
    if (shim_is_nvme()) {
        struct sated_nvme_command c;
        int rc = write ? sated_nvme_build_write(&c, node->nsid, offset / block, bytes / block, block, 0)
                       : sated_nvme_build_read(&c, node->nsid, offset / block, bytes / block, block, 0);
        return rc || shim_nvme(node, &c, data, &reply) ? -EIO : 0;
    }
    struct sated_scsi_command c;
    int rc = write ? sated_scsi_build_write_16(&c, offset / block, bytes / block, block, 0, false, false)
                   : sated_scsi_build_read_16(&c, offset / block, bytes / block, block, 0, false, false);
    return rc ? -EIO : send_scsi(&c, data);
}

/* Whole blocks, as the page cache would: what is asked for only in part is read first. */
static int64_t transfer(const struct shim_node *node, bool write, uint8_t *data, uint64_t bytes, uint64_t offset)
{
    static uint8_t piece[PIECE];
    uint64_t size, done = 0;
    uint32_t block;
    int rc = shim_size(node, &size, &block);
    if (rc)
        return rc;
    if (offset >= size)
        return write && bytes ? -ENOSPC : 0;
    bytes = bytes < size - offset ? bytes : size - offset;
    while (done < bytes) {
        uint64_t at = offset + done, first = at / block * block;
        uint32_t skip = (uint32_t)(at - first);
        uint64_t n = bytes - done < PIECE - skip ? bytes - done : PIECE - skip;
        uint32_t whole = (uint32_t)((skip + n + block - 1) / block * block);
        bool partly = skip || (skip + n) % block;
        if (!write || partly)
            rc = move(node, false, piece, whole, first, block);
        if (!rc && write) {
            memcpy(piece + skip, data + done, n);
            rc = move(node, true, piece, whole, first, block);
        }
        if (rc)
            return done ? (int64_t)done : rc;
        if (!write)
            memcpy(data + done, piece + skip, n);
        done += n;
    }
    return (int64_t)done;
}

int64_t shim_read(const struct shim_file *f, void *data, uint64_t bytes, uint64_t offset)
{
    if (!shim_has_blocks(&f->node))
        return -EINVAL;
    return transfer(&f->node, false, data, bytes, offset);
}

int64_t shim_write(const struct shim_file *f, const void *data, uint64_t bytes, uint64_t offset)
{
    if (!shim_has_blocks(&f->node))
        return -EINVAL;
    return transfer(&f->node, true, (void *)(uintptr_t)data, bytes, offset);
}

int shim_flush(const struct shim_file *f)
{
    if (!shim_has_blocks(&f->node))
        return -EINVAL;
    if (shim_is_nvme()) {
        struct sated_reply reply;
        struct sated_nvme_command c;
        return sated_nvme_build_flush(&c, f->node.nsid) || shim_nvme(&f->node, &c, NULL, &reply) ? -EIO : 0;
    }
    struct sated_scsi_command c;
    return sated_scsi_build_synchronize_cache_10(&c, 0, 0, false) || send_scsi(&c, NULL) ? -EIO : 0;
}

int shim_sleep(int64_t ns)
{
    int rc = shim_use();
    if (rc)
        return rc;
    rc = sated_drive_sleep(sim.drive, ns);
    shim_release();
    return rc ? -EIO : 0;
}
