/* SPDX-License-Identifier: MIT */
/* The machines of tests/corpus/trees: each is built in a temporary folder, listed, and compared with what its own file
 * says. The format stands at the top of sata-ahci.tree. */
#define _GNU_SOURCE 1
#include <sated/sated.h>

#include <stddef.h>

#include "check.h"
#include "transport/handle.h"
#include "transport/node.h"
#include "tree.h"

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
    MEMBER(transport),   MEMBER(link),    MEMBER(link_max), MEMBER(hba),  MEMBER(driver), MEMBER(namespaces),
    MEMBER(controllers), MEMBER(members), MEMBER(reasons),  MEMBER(path), MEMBER(token),  MEMBER(model),
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
    if (id && !strcmp(member, "mounted"))
        got = id->flags & SATED_IDENTITY_MOUNTED ? "yes" : "no";
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
    long sectors;
    if (sscanf(line, "disk %63s %15s %299s %ld", name, number, place, &sectors) == 4) {
        put_device(tree, place, number, 0, sectors);
    } else if (sscanf(line, "part %63s %15s %299s %ld", name, number, place, &sectors) == 4) {
        put_device(tree, place, number, 1, sectors);
    } else if (target) {
        *target = '\0';
        snprintf(path, sizeof path, "%s", in("%s%s", tree, target + 4));
        put_link(in("%s%s", tree, line), path);
    } else if (value) {
        *value = '\0';
        put(in("%s%s", tree, line), feed(value + 3));
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
    char path[600], line[800];
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
    for (int i = 0; i < listed; i++)
        CHECK(list[i].reasons[0] != '\0');
    node_set_root(NULL);
}

int main(void)
{
    if (tree_begin())
        return 1;
    static const char *const trees[] = {"sata-ahci", "sas-hba", "nvme-paths",   "usb-bridge",
                                        "virtio",    "md-set",  "parts-missing"};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        test_tree(trees[i]);
    tree_end();
    return check_done();
}
