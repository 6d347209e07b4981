/* SPDX-License-Identifier: MIT */
/* The machines of tests/corpus/trees: each is built in a temporary folder, listed, and compared with what its own file
 * says. tests/vm/record.py recorded most of them in a guest; those called composed-* hold what no emulator has.
 *
 * Lines: "PATH = TEXT" (a line feed in a text is |), "PATH : HEX", "PATH -> TARGET" (as it stands in a recorded tree; from
 * the root in a composed one, where it begins with a slash), "PATH/" for a folder, in composed ones "disk NAME NUMBER PLACE
 * SECTORS" and "part ..." for all that a block device has at least, and "NAME ? MEMBER TEXT" for what is expected. */
#define _GNU_SOURCE 1
#include <sated/sated.h>

#include <inttypes.h>
#include <stddef.h>

#include "check.h"
#include "transport/handle.h"
#include "transport/node.h"
#include "tree.h"

#define LINE 4096

static struct sated_identity list[16];
static char nodes[16][NODE_NAME]; /* of list, by the same index */
static int listed;

static const struct {
    const char *name;
    size_t at;
} members[] = {
#define MEMBER(of) \
    { \
#of, offsetof(struct sated_identity, of) \
    }
    MEMBER(transport),  MEMBER(link),        MEMBER(link_max), MEMBER(hba),     MEMBER(driver),
    MEMBER(namespaces), MEMBER(controllers), MEMBER(members),  MEMBER(reasons), MEMBER(path),
    MEMBER(token),      MEMBER(vendor),      MEMBER(model),    MEMBER(serial),  MEMBER(firmware),
};

static char *feed(char *text)
{
    for (char *p = text; *p; p++)
        if (*p == '|')
            *p = '\n';
    return text;
}

static const struct sated_identity *find(const char *node)
{
    for (int i = 0; i < listed; i++)
        if (!strcmp(nodes[i], node))
            return &list[i];
    return NULL;
}

static void expect(const char *tree, const char *node, const char *member, const char *text)
{
    const struct sated_identity *id = find(node);
    const char *got = NULL;
    char number[24];
    if (id && !strcmp(member, "mounted"))
        got = id->flags & SATED_IDENTITY_MOUNTED ? "yes" : "no";
    if (id && !strcmp(member, "solid"))
        got = id->flags & SATED_IDENTITY_ROTATION_KNOWN && id->rotation_rpm == 0 ? "yes" : "no";
    for (size_t i = 0; id && i < 3; i++) {
        static const char *const numbers[] = {"capacity_bytes", "logical_block_bytes", "physical_block_bytes"};
        const uint64_t values[] = {id->capacity_bytes, id->logical_block_bytes, id->physical_block_bytes};
        if (!strcmp(member, numbers[i])) {
            snprintf(number, sizeof number, "%" PRIu64, values[i]);
            got = number;
        }
    }
    for (size_t i = 0; id && i < sizeof members / sizeof *members; i++)
        if (!strcmp(members[i].name, member))
            got = (const char *)id + members[i].at;
    CHECK(got && !strcmp(got, text));
    if (!got || strcmp(got, text))
        printf("# %s: %s.%s is \"%s\", expected \"%s\"\n", tree, node, member, got ? got : "(nothing)", text);
}

static void build(const char *tree, char *line)
{
    char name[64], number[16], place[300], path[500], *value = strstr(line, " = "), *target = strstr(line, " -> ");
    char *bytes = strstr(line, " : ");
    unsigned char data[LINE / 2];
    long sectors;
    if (sscanf(line, "disk %63s %15s %299s %ld", name, number, place, &sectors) == 4) {
        put_device(tree, place, number, 0, sectors);
    } else if (sscanf(line, "part %63s %15s %299s %ld", name, number, place, &sectors) == 4) {
        put_device(tree, place, number, 1, sectors);
    } else if (target) {
        *target = '\0';
        snprintf(path, sizeof path, "%s", target[4] == '/' ? in("%s%s", tree, target + 4) : target + 4);
        put_link(in("%s%s", tree, line), path);
    } else if (value) {
        *value = '\0';
        put(in("%s%s", tree, line), feed(value + 3));
    } else if (bytes) {
        size_t n = 0;
        for (const char *hex = bytes + 3; sscanf(hex, "%2hhx", &data[n]) == 1; hex += 2)
            n++;
        *bytes = '\0';
        put_bytes(in("%s%s", tree, line), data, n);
    } else if (line[strlen(line) - 1] == '/') {
        put_folder(in("%s%s", tree, line));
    } else {
        CHECK(!"a line of the tree has a meaning");
        printf("# %s: %s\n", tree, line);
    }
}

static int visit_name(const char *name, void *user)
{
    (void)user;
    if (listed < 16)
        snprintf(nodes[listed], NODE_NAME, "%s", name);
    listed++;
    return 0;
}

/* Two passes over the file: what there is, and what is expected. */
static int each_line(const char *tree, bool expected)
{
    char path[600], line[LINE];
    int n = 0;
    snprintf(path, sizeof path, CORPUS "/trees/%s.tree", tree);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *question = strstr(line, " ? ");
        if (line[0] == '#' || !line[0] || !!question != expected)
            continue;
        n++;
        if (!question) {
            build(tree, line);
            continue;
        }
        *question = '\0';
        char *member = question + 3, *text = member + strcspn(member, " ");
        if (*text)
            *text++ = '\0';
        expect(tree, line, member, feed(text));
    }
    if (f)
        fclose(f);
    return n;
}

static void test_tree(const char *tree)
{
    CHECK(each_line(tree, false) > 0);
    node_set_root(in("%s", tree));
    listed = 0;
    memset(list, 0, sizeof list);
    node_each_disk(visit_name, NULL);
    CHECK_EQ(sated_drive_list(list, 16), listed);
    CHECK(each_line(tree, true) >= 4);
    node_set_root(NULL);
}

int main(void)
{
    if (tree_begin())
        return 1;
    char tree[256];
    int machines = 0;
    DIR *folder = opendir(CORPUS "/trees");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int length = (int)strcspn(entry->d_name, ".");
        if (strcmp(entry->d_name + length, ".tree"))
            continue;
        snprintf(tree, sizeof tree, "%.*s", length, entry->d_name);
        test_tree(tree);
        machines++;
    }
    if (folder)
        closedir(folder);
    CHECK(machines >= 7);
    tree_end();
    return check_done();
}
