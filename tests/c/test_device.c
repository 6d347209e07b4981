/* SPDX-License-Identifier: MIT */
/* Nodes that take commands: which one gets them, and what NVMe's answers mean. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "transport/handle.h"
#include "transport/nvme_tree.h"

static int id_ctrl(struct sated_drive *d)
{
    struct sated_nvme_command c;
    sated_nvme_build_identify(&c, SATED_NVME_CNS_CTRL, 0, 0, 0, 0);
    int rc = sated_nvme_admin_raw(d, &c, data, &reply);
    sated_detail_get(&detail);
    return rc;
}

static int nvme_read(struct sated_drive *d)
{
    struct sated_nvme_command c = {.opcode = 2, .nsid = 1, .data_len = 4096, .direction = 1};
    int rc = sated_nvme_io_raw(d, &c, data, &reply);
    sated_detail_get(&detail);
    return rc;
}

/* sg and bsg nodes carry the commands themselves; the disk beneath is for the data. */
static void test_nodes(void)
{
    struct sated_drive *d = opened("sg0");
    quiet();
    CHECK_EQ(inquiry(d), 0);
    CHECK(is_device(kernel.fd, "sg0"));
    CHECK_EQ(handle_check_same(d), 0);
    machine[0].minor = 16; /* another disk took the name */
    CHECK_EQ(handle_check_same(d), SATED_UNSAFE);
    machine[0].minor = 0;
    CHECK_EQ(d->kind, HANDLE_BLOCK);
    CHECK_EQ(d->identity.capacity_bytes, 1000000u * 512);
    sated_drive_close(d);

    d = opened("0:0:0:0");
    quiet();
    kernel.resid = -4;
    CHECK_EQ(inquiry(d), 0);
    CHECK(is_device(kernel.fd, "0:0:0:0"));
    CHECK_EQ(kernel.cdb[0], 0x12);
    CHECK_EQ(reply.flags, (uint32_t)SATED_REPLY_RESIDUAL_WRONG);
    kernel.status = 2;
    memcpy(kernel.sense, illegal, kernel.sense_len = sizeof illegal);
    CHECK_EQ(inquiry(d), SATED_SENSE);
    sated_drive_close(d);

    /* The disk may not be opened, its sg node may: commands go, loads do not. */
    machine[0].open_error = EACCES;
    d = opened("sg0");
    machine[0].open_error = 0;
    CHECK_EQ(d->kind, HANDLE_COMMANDS);
    quiet();
    CHECK_EQ(inquiry(d), 0);
    bool direct = false;
    uint32_t alignment;
    int fd;
    CHECK_EQ(handle_lend(d, false, &direct, &alignment, &fd), SATED_UNSUPPORTED);
    sated_drive_close(d);

    /* sg(4): without O_NONBLOCK an open waits while another has the node for itself; with it, that is said. */
    machine[5].open_error = EBUSY;
    CHECK_EQ(sated_drive_open(&d, in("m/dev/sg1"), NULL), -EBUSY);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "another program");
    CHECK(devices_flags & O_NONBLOCK);
    machine[5].open_error = 0;

    d = opened("sg1"); /* no disk at all */
    CHECK_EQ(d->kind, HANDLE_COMMANDS);
    CHECK(!strcmp(d->identity.vendor, "ACME"));
    sated_drive_close(d);

    /* A CD writer, to which A1h is BLANK. */
    put(in("m/sys/devices/pci0/ses/type"), "5\n");
    CHECK_EQ(sated_drive_open(&d, in("m/dev/sg1"), NULL), SATED_UNSUPPORTED);
    put(in("m/sys/devices/" SCSI "/type"), "5\n");
    put_attribute("m", "sda", "device/type", "5\n");
    d = opened("sda");
    CHECK_EQ(inquiry(d), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "type 5");
    put_attribute("m", "sda", "device/type", "0\n");
    CHECK_EQ(inquiry(d), 0);
    sated_drive_close(d);

    CHECK_EQ(sated_drive_open(&d, in("m/dev/host0"), NULL), SATED_PARSE);
    CHECK_EQ(sated_drive_open(&d, in("m/dev/console0"), NULL), SATED_PARSE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "1:3");
}

/* The first number of nvmeXnY is the subsystem's (case C41 of the field cases). */
static void test_controllers(void)
{
    char name[NODE_NAME], names[4][NODE_NAME];
    CHECK_EQ(nvme_tree_controller(name, "nvme1n1"), 0);
    CHECK(!strcmp(name, "nvme4"));
    CHECK_EQ(nvme_tree_controller(name, "nvme4n1"), 0);
    CHECK(!strcmp(name, "nvme1"));
    CHECK_EQ(nvme_tree_controller(name, "nvme7n2"), 0);
    CHECK(!strcmp(name, "nvme7"));
    CHECK_EQ(nvme_tree_controller(name, "nvme9n1"), SATED_UNSUPPORTED);
    CHECK_EQ(nvme_tree_controller(name, "nvme1"), SATED_UNSUPPORTED);
    CHECK_EQ(nvme_tree_controller(name, "sda"), SATED_UNSUPPORTED);
    CHECK_EQ(nvme_tree_namespaces(names, 4, "nvme1"), 1);
    CHECK(!strcmp(names[0], "nvme4n1"));
    CHECK_EQ(nvme_tree_namespaces(names, 4, "nvme7"), 2);
    CHECK_EQ(nvme_tree_namespaces(names, 4, "nvme9"), -ENOENT);

    struct sated_drive *d = opened("nvme1n1");
    quiet();
    kernel.result = 0x1122334455667788;
    CHECK_EQ(id_ctrl(d), 0);
    CHECK(is_device(kernel.fd, "nvme4"));
    CHECK_EQ(kernel.request, (unsigned long)NVME_IOCTL_ADMIN64_CMD);
    CHECK_EQ(kernel.nvme.opcode, 6);
    CHECK_EQ(kernel.nvme.cdw10, 1u);
    CHECK_EQ(kernel.nvme.data_len, 4096u);
    CHECK_EQ(kernel.nvme.timeout_ms, 60000u);
    CHECK_EQ(kernel.nvme.addr % 4096, 0u);
    CHECK_EQ(reply.result, 0x1122334455667788u);
    CHECK_EQ(nvme_read(d), 0);
    CHECK(is_device(kernel.fd, "nvme1n1"));
    CHECK_EQ(kernel.request, (unsigned long)NVME_IOCTL_IO64_CMD);
    sated_drive_close(d);

    d = opened("nvme1"); /* its only namespace */
    CHECK(!strcmp(d->node, "nvme4n1"));
    CHECK_EQ(d->identity.capacity_bytes, 4000000u * 512);
    CHECK_EQ(id_ctrl(d), 0);
    CHECK(is_device(kernel.fd, "nvme1"));
    CHECK_EQ(nvme_read(d), 0);
    CHECK(is_device(kernel.fd, "nvme4n1"));
    sated_drive_close(d);

    d = opened("nvme7"); /* several: none is meant */
    CHECK_EQ(d->kind, HANDLE_COMMANDS);
    CHECK_TEXT(d->identity.note, "2 namespaces: /dev/nvme7n1 /dev/nvme7n2");
    CHECK_EQ(id_ctrl(d), 0);
    CHECK_EQ(nvme_read(d), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "namespace");
    sated_drive_close(d);

    d = opened("ng1n1");
    CHECK(!strcmp(d->node, "nvme1n1"));
    CHECK_EQ(id_ctrl(d), 0);
    CHECK(is_device(kernel.fd, "nvme4"));
    sated_drive_close(d);
    machine[6].open_error = EACCES; /* nvme1n1 */
    d = opened("ng1n1");
    machine[6].open_error = 0;
    CHECK_EQ(nvme_read(d), 0);
    CHECK(is_device(kernel.fd, "ng1n1"));
    CHECK_EQ(id_ctrl(d), 0);
    CHECK(is_device(kernel.fd, "nvme4"));
    sated_drive_close(d);

    /* A path that is not live gives way to one that is. */
    put_node("nvme", "pci0/0000:09/nvme/nvme0", 240, 0);
    put_folder(in("m/sys/class/nvme/nvme0/nvme1c0n1"));
    put(in("m/sys/devices/pci0/0000:09/nvme/nvme0/state"), "dead\n");
    CHECK_EQ(nvme_tree_controller(name, "nvme1n1"), 0);
    CHECK(!strcmp(name, "nvme4"));
    put(in("m/sys/devices/pci0/0000:09/nvme/nvme0/state"), "live\n");
    CHECK_EQ(nvme_tree_controller(name, "nvme1n1"), 0);
    CHECK(!strcmp(name, "nvme0"));
    put(in("m/sys/devices/pci0/0000:09/nvme/nvme0/state"), "dead\n");
}

static void test_nvme_answers(void)
{
    struct sated_drive *d = opened("nvme1n1");
    static const struct {
        int rc, want;
        const char *text;
        uint8_t sct, sc;
    } cases[] = {
        {0x4002, SATED_NVME, "Invalid Field in Command", 0, 0x02}, /* DNR */
        {0x2109, SATED_NVME, "Invalid Log Page", 1, 0x09},         /* More */
        {0x0281, SATED_NVME, "code 81h", 2, 0x81},
        {0x001d, SATED_NVME, "Sanitize In Progress", 0, 0x1d},
        {0x0371, SATED_STALLED, "cancelled", 3, 0x71},
        {-EINTR, SATED_STALLED, "60000 ms", 0, 0},
        {-EACCES, -EACCES, "CAP_SYS_ADMIN", 0, 0},
        {-EINVAL, -EINVAL, "namespace", 0, 0},
        {-ENODEV, -ENODEV, "has gone", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quiet();
        kernel.rc = cases[i].rc;
        CHECK_EQ(id_ctrl(d), cases[i].want);
        CHECK_TEXT(detail.text, cases[i].text);
        CHECK_EQ(detail.nvme_sct, cases[i].sct);
        CHECK_EQ(detail.nvme_sc, cases[i].sc);
        CHECK_EQ(kernel.calls, 1);
        CHECK_EQ(reply.nvme_status, cases[i].rc > 0 ? cases[i].rc : 0);
    }

    /* Before Linux 5.4: no 64-bit form, so the 32-bit one, with its shorter result. */
    quiet();
    kernel.rc_64 = -ENOTTY;
    kernel.result = 0x1122334455667788;
    CHECK_EQ(id_ctrl(d), 0);
    CHECK_EQ(kernel.calls, 2);
    CHECK_EQ(kernel.request, (unsigned long)NVME_IOCTL_ADMIN_CMD);
    CHECK_EQ(reply.result, 0x55667788u);
    CHECK_EQ(nvme_read(d), 0);
    CHECK_EQ(kernel.request, (unsigned long)NVME_IOCTL_IO_CMD);
    kernel.rc = -ENOTTY; /* neither: no NVMe behind it */
    CHECK_EQ(id_ctrl(d), SATED_UNSUPPORTED);
    quiet();
    kernel.rc_64 = -EINVAL; /* an answer, not a reason to try again in another form */
    CHECK_EQ(id_ctrl(d), -EINVAL);
    CHECK_EQ(kernel.calls, 1);

    struct sated_nvme_command n = {.opcode = 2, .data_len = 510, .direction = 1, .cdw10 = 2};
    CHECK_EQ(sated_nvme_admin_raw(d, &n, data, &reply), SATED_PARSE);
    n = (struct sated_nvme_command){.opcode = 0x80, .nsid = 1}; /* Format NVM */
    CHECK_EQ(sated_nvme_admin_raw(d, &n, NULL, &reply), SATED_UNSAFE);
    CHECK_EQ(kernel.calls, 1);
    CHECK_EQ(inquiry(d), SATED_UNSUPPORTED);
    CHECK_EQ(kernel.calls, 1);
    sated_drive_close(d);

    quiet();
    put_attribute("m", "nvme1n1", "device/serial", "A1\n"); /* renumbered between opening and asking */
    d = opened("nvme1n1");
    put_attribute("m", "nvme1n1", "device/serial", "B2\n");
    CHECK_EQ(id_ctrl(d), SATED_UNSAFE);
    CHECK_TEXT(detail.text, "B2, not A1");
    CHECK_EQ(kernel.calls, 0);
    sated_drive_close(d);

    machine[9].open_error = EACCES; /* nvme4 */
    d = opened("nvme1n1");
    CHECK_EQ(id_ctrl(d), -EACCES);
    CHECK_TEXT(detail.text, "/dev/nvme4");
    machine[9].open_error = 0;
    CHECK_EQ(id_ctrl(d), 0);
    sated_drive_close(d);
}

int main(void)
{
    if (machine_begin())
        return 1;
    test_nodes();
    test_controllers();
    test_nvme_answers();
    tree_end();
    return check_done();
}
