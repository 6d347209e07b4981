/* SPDX-License-Identifier: MIT */
#include "transport/topology.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/node.h"
#include "transport/nvme_tree.h"

/* Adds a line to a list, once; one that has no room is left out whole. */
static void add_line(char *text, size_t n, const char *line)
{
    size_t used = strlen(text), length = strlen(line);
    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (!strncmp(at, line, length) && (at[length] == '\n' || !at[length]))
            return;
    if (used + length + 2 <= n)
        snprintf(text + used, n - used, "%s%s", used ? "\n" : "", line);
}

/* The last part of where a link leads, by its text alone. */
static bool link_end(char out[NODE_NAME], const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    out[0] = '\0';
    if (n <= 0)
        return false;
    target[n] = '\0';
    const char *slash = strrchr(target, '/');
    int length = snprintf(out, NODE_NAME, "%s", slash ? slash + 1 : target);
    return length > 0 && length < NODE_NAME;
}

/* The number behind a part of a path, such as 3 of .../ata3/host2. */
static bool number_of_part(long *out, const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        if (!strncmp(p + 1, prefix, n) && isdigit((unsigned char)p[1 + n])) {
            *out = strtol(p + 1 + n, NULL, 10);
            return true;
        }
    return false;
}

/* Of ata_link and sas_phy: a speed, or a word for none. */
static bool is_speed(const char *text)
{
    return isdigit((unsigned char)text[0]) != 0;
}

struct phys {
    int n;
    char now[24], most[24];
};

static int visit_phy(const char *name, void *user)
{
    struct phys *p = user;
    char text[24];
    if (strncmp(name, "phy-", 4))
        return 0;
    p->n++;
    if (node_text(text, sizeof text, "/sys/class/sas_phy/%s/negotiated_linkrate", name) && is_speed(text))
        snprintf(p->now, sizeof p->now, "%s", text);
    if (node_text(text, sizeof text, "/sys/class/sas_phy/%s/maximum_linkrate", name) && is_speed(text))
        snprintf(p->most, sizeof p->most, "%s", text);
    return 0;
}

/* scsi_transport_sas: the port that is nearest to the device has the phys of its link. */
static void link_of_sas(const char *folder, struct sated_identity *out)
{
    struct phys p = {.n = 0};
    char port[PATH_MAX], below[PATH_MAX], width[16] = "";
    const char *end = strstr(folder, "/end_device-");
    if (!end)
        return;
    snprintf(port, sizeof port, "%.*s", (int)(end - folder), folder);
    const char *last = strrchr(port, '/');
    if (!last || strncmp(last, "/port-", 6))
        return;
    snprintf(below, sizeof below, "/sys/class/sas_port%.*s/device", NODE_NAME, last);
    node_each(below, visit_phy, &p);
    if (p.n > 1)
        snprintf(width, sizeof width, " x%d", p.n);
    if (p.now[0])
        snprintf(out->link, sizeof out->link, "%s%.7s", p.now, width);
    if (p.most[0])
        snprintf(out->link_max, sizeof out->link_max, "%s%.7s", p.most, width);
}

/* Documentation/ABI/testing/sysfs-ata. */
static void link_of_sata(const char *folder, struct sated_identity *out)
{
    char text[32];
    long port;
    if (!number_of_part(&port, folder, "ata")) {
        link_of_sas(folder, out);
        return;
    }
    if (node_text(text, sizeof text, "/sys/class/ata_link/link%ld/sata_spd", port) && is_speed(text))
        snprintf(out->link, sizeof out->link, "%s", text);
    if ((node_text(text, sizeof text, "/sys/class/ata_link/link%ld/hw_sata_spd_limit", port) && is_speed(text)) ||
        (node_text(text, sizeof text, "/sys/class/ata_link/link%ld/sata_spd_limit", port) && is_speed(text)))
        snprintf(out->link_max, sizeof out->link_max, "%s", text);
}

/* @param function the folder of the PCI function; @param which "current" or "max" */
static void pcie(char *out, size_t n, const char *function, const char *which)
{
    char speed[20], width[4];
    if (node_text(speed, sizeof speed, "%s/%s_link_speed", function, which) && is_speed(speed) &&
        node_text(width, sizeof width, "%s/%s_link_width", function, which))
        snprintf(out, n, "%s x%s", speed, width);
}

static int visit_path(const char *controller, const char *state, void *user)
{
    struct sated_identity *out = user;
    char line[NODE_NAME + 40];
    snprintf(line, sizeof line, "%s%s%s", controller, state[0] ? " " : "", state);
    add_line(out->controllers, sizeof out->controllers, line);
    return 0;
}

static int visit_beside(const char *name, void *user)
{
    struct sated_identity *out = user;
    char folder[PATH_MAX];
    if (node_folder(folder, sizeof folder, name))
        add_line(out->namespaces, sizeof out->namespaces, name);
    return 0;
}

static void identify_nvme(const char *name, struct sated_identity *out)
{
    char controller[NODE_NAME], function[NODE_NAME + 40], text[32], above[NODE_NAME + 24];
    /* The folders of all that a controller or a subsystem has stand beside each other, in the order of their numbers;
     * by way of the controllers they would come in the order of those, which each boot may number otherwise. */
    snprintf(above, sizeof above, "/sys/class/block/%s/..", name);
    node_each(above, visit_beside, out);
    nvme_tree_each_path(name, visit_path, out);
    snprintf(function, sizeof function, "/sys/class/block/%s/device/device", name);
    if (nvme_tree_controller(controller, name) == 0 &&
        node_text(text, sizeof text, "/sys/class/nvme/%s/transport", controller)) {
        if (strcmp(text, "pcie")) { /* over a network: tcp, rdma, fc, loop */
            snprintf(out->link, sizeof out->link, "%s", text);
            return;
        }
        snprintf(function, sizeof function, "/sys/class/nvme/%s/device", controller);
    }
    pcie(out->link, sizeof out->link, function, "current");
    pcie(out->link_max, sizeof out->link_max, function, "max");
}

/* What the adapter is called: "SAS9300-8i at 0000:03:00.0 (1000:0097)". A USB interface has its names one level up. */
static void name_adapter(struct sated_identity *out, const char *folder, const char *at, bool usb)
{
    char board[40] = "", vendor[8] = "", device[8] = "", speed[12];
    const char *place = strrchr(at, '/') + 1;
    long host;
    if (usb) {
        node_text(board, sizeof board, "%s/../product", at);
        node_text(vendor, sizeof vendor, "%s/../idVendor", at);
        node_text(device, sizeof device, "%s/../idProduct", at);
        if (node_text(speed, sizeof speed, "%s/../speed", at) && isdigit((unsigned char)speed[0]))
            snprintf(out->link, sizeof out->link, "%s Mbit/s", speed);
    } else {
        if (number_of_part(&host, folder, "host"))
            node_text(board, sizeof board, "/sys/class/scsi_host/host%ld/board_name", host);
        node_text(vendor, sizeof vendor, "%s/vendor", at);
        node_text(device, sizeof device, "%s/device", at);
    }
    const char *v = !strncmp(vendor, "0x", 2) ? vendor + 2 : vendor;
    const char *d = !strncmp(device, "0x", 2) ? device + 2 : device;
    int n = snprintf(out->hba, sizeof out->hba, "%s%s%.30s", board, board[0] ? " at " : "", place);
    if (v[0] && d[0])
        snprintf(out->hba + n, sizeof out->hba - (size_t)n, " (%s:%s)", v, d);
}

/* The nearest device above the disk that sits on a bus: with SCSI in between, the host adapter or the bridge.
 * @param folder real, below /sys/devices */
static void find_adapter(const char *folder, struct sated_identity *out)
{
    static const char *const buses[] = {"pci", "usb", "virtio", "platform", "mmc", "xen", "vmbus"};
    char at[PATH_MAX], path[PATH_MAX], end[NODE_NAME];
    const char *below = strstr(folder, "/sys/devices/");
    if (!below)
        return;
    snprintf(at, sizeof at, "%s", below);
    for (char *slash = strrchr(at, '/'); slash != at; slash = strrchr(at, '/')) {
        *slash = '\0';
        if (!node_path(path, sizeof path, "%s/subsystem", at) || !link_end(end, path))
            continue;
        for (size_t i = 0; i < sizeof buses / sizeof *buses; i++)
            if (!strcmp(end, buses[i])) {
                name_adapter(out, below, at, !strcmp(end, "usb"));
                if (node_path(path, sizeof path, "%s/driver", at) && link_end(end, path))
                    snprintf(out->driver, sizeof out->driver, "%.31s", end);
                return;
            }
    }
}

/* A path to a namespace that several controllers share is not below any of them. */
static bool adapter_folder(char *out, const char *name, const struct sated_identity *id)
{
    char controller[NODE_NAME], path[PATH_MAX];
    if (!strcmp(id->transport, "nvme") && !nvme_tree_controller(controller, name) &&
        node_path(path, sizeof path, "/sys/class/nvme/%s", controller) && realpath(path, out))
        return true;
    return node_folder(out, PATH_MAX, name);
}

static void add_member(struct sated_identity *out, const char *set, const char *member)
{
    char line[NODE_NAME + 40], state[32];
    node_text(state, sizeof state, "/sys/class/block/%s/md/dev-%s/state", set, member);
    snprintf(line, sizeof line, "%s%s%s", member, state[0] ? " " : "", state);
    add_line(out->members, sizeof out->members, line);
}

struct set {
    const char *name;
    struct sated_identity *out;
};

static int visit_slave(const char *name, void *user)
{
    const struct set *set = user;
    add_member(set->out, set->name, name);
    return 0;
}

void topology_identify(const char *name, struct sated_identity *out)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!node_folder(folder, sizeof folder, name))
        return;
    if (adapter_folder(path, name, out))
        find_adapter(path, out);
    if (!strcmp(out->transport, "sata"))
        link_of_sata(folder, out);
    else if (!strcmp(out->transport, "sas"))
        link_of_sas(folder, out);
    else if (!strcmp(out->transport, "nvme"))
        identify_nvme(name, out);
    snprintf(path, sizeof path, "/sys/class/block/%s/slaves", name);
    node_each(path, visit_slave, &(struct set){name, out});
}

static int count_one(const char *name, void *user)
{
    (void)name;
    ++*(uint64_t *)user;
    return 0;
}

/* Documentation/block/queue-sysfs (nr_requests): of each queue in mq/, not of all together. */
uint64_t topology_queue(const struct sated_drive *d)
{
    char name[NODE_NAME], folder[128];
    uint64_t queues = 0, each, device;
    if (d->kind != HANDLE_BLOCK || node_whole(name, d->node))
        return 0;
    snprintf(folder, sizeof folder, "/sys/class/block/%s/mq", name);
    if (node_each(folder, count_one, &queues) || !node_number(&each, "/sys/class/block/%s/queue/nr_requests", name))
        return 0;
    return node_number(&device, "/sys/class/block/%s/device/queue_depth", name) && device < queues * each
               ? device
               : queues * each;
}
