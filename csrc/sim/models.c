/* SPDX-License-Identifier: MIT */
/* The texts of the models: built in by the assembler, so that a C program needs no data folder, or added. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sated/sim.h>

#include "core/error.h"
#include "core/size.h"
#include "sim/model.h"

#define BUILT_IN(symbol, file) \
    __asm__(".pushsection .rodata\n" \
            ".globl " #symbol "\n" \
            ".hidden " #symbol "\n" #symbol ":\n" \
            ".incbin \"" SATED_MODELS "/" file "\"\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const char symbol[] __attribute__((visibility("hidden")))

BUILT_IN(sim_model_710, "710.toml");
BUILT_IN(sim_model_generic, "generic.toml");
BUILT_IN(sim_model_generic_client_nvme, "generic-client-nvme.toml");
BUILT_IN(sim_model_generic_tlc_nvme, "generic-tlc-nvme.toml");
BUILT_IN(sim_model_s840, "s840.toml");
BUILT_IN(sim_model_c300, "c300.toml");
BUILT_IN(sim_model_generic_enterprise_nvme, "generic-enterprise-nvme.toml");
BUILT_IN(sim_model_lightning, "lightning.toml");
BUILT_IN(sim_model_mkx001, "mkx001.toml");
BUILT_IN(sim_model_optimus, "optimus.toml");
BUILT_IN(sim_model_p300, "p300.toml");
BUILT_IN(sim_model_ssd400s, "ssd400s.toml");
BUILT_IN(sim_model_x210, "x210.toml");
BUILT_IN(sim_nand_presets, "nand.toml");

static const struct {
    const char *name;
    const char *text;
} built_in[] = {
    {"generic", sim_model_generic},
    {"generic-tlc-nvme", sim_model_generic_tlc_nvme},
    {"generic-client-nvme", sim_model_generic_client_nvme},
    {"710", sim_model_710},
    {"s840", sim_model_s840},
    {"x210", sim_model_x210},
    {"c300", sim_model_c300},
    {"generic-enterprise-nvme", sim_model_generic_enterprise_nvme},
    {"lightning", sim_model_lightning},
    {"mkx001", sim_model_mkx001},
    {"optimus", sim_model_optimus},
    {"p300", sim_model_p300},
    {"ssd400s", sim_model_ssd400s},
};

#define BUILT_IN_COUNT (sizeof built_in / sizeof *built_in)
#define ADDED_MAX 256
#define NAND "nand" /* not a drive, but a text like those of drives */

/* Texts that were handed out must stay, so a replaced one is kept until the process ends. */
struct added {
    struct added *next;
    char *name;
    char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct added *added;

const char *sated_sim_model_name(size_t index)
{
    return index < BUILT_IN_COUNT ? built_in[index].name : NULL;
}

const char *sated_sim_model_text(const char *name)
{
    for (size_t i = 0; i < BUILT_IN_COUNT; i++)
        if (!strcmp(name, built_in[i].name))
            return built_in[i].text;
    if (!strcmp(name, NAND))
        return sim_nand_presets;
    const char *text = NULL;
    pthread_mutex_lock(&lock);
    for (const struct added *a = added; a && !text; a = a->next)
        if (!strcmp(name, a->name))
            text = a->text;
    pthread_mutex_unlock(&lock);
    return text;
}

static bool name_is_usable(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return n && n < sizeof((struct model *)0)->name && !name[n];
}

int sated_sim_add_model(const char *name, const char *text)
{
    if (!name_is_usable(name))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "\"%s\" cannot be the name of a model: use 1 to 47 letters, digits, - and _", name);
    for (size_t i = 0; i <= BUILT_IN_COUNT; i++)
        if (!strcmp(name, i < BUILT_IN_COUNT ? built_in[i].name : NAND))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s is a built-in model: add yours under another name",
                             name);
    int rc = model_check(name, text);
    if (rc)
        return rc;
    struct added *a = calloc(1, sizeof *a);
    if (a) {
        a->name = strdup(name);
        a->text = strdup(text);
    }
    if (!a || !a->name || !a->text) {
        if (a) {
            free(a->name);
            free(a->text);
        }
        free(a);
        return error_set(-ENOMEM, SATED_LAYER_NONE, "%s: not enough memory to add the model", name);
    }
    pthread_mutex_lock(&lock);
    a->next = added;
    added = a;
    pthread_mutex_unlock(&lock);
    return 0;
}

int models_copy(const char *name, char **text)
{
    const char *found = strcmp(name, NAND) ? sated_sim_model_text(name) : NULL;
    if (found) {
        *text = strdup(found);
        return *text ? 0 : error_set(-ENOMEM, SATED_LAYER_NONE, "sim:%s: not enough memory for the model", name);
    }
    const char *known[BUILT_IN_COUNT + ADDED_MAX];
    size_t n = 0;
    for (; n < BUILT_IN_COUNT; n++)
        known[n] = built_in[n].name;
    pthread_mutex_lock(&lock);
    for (const struct added *a = added; a && n < BUILT_IN_COUNT + ADDED_MAX; a = a->next)
        known[n++] = a->name;
    pthread_mutex_unlock(&lock);
    const char *near = size_nearest(name, known, n);
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     near ? "there is no simulated drive sim:%s; did you mean sim:%s?"
                          : "there is no simulated drive sim:%s; `sated sim models` lists the models",
                     name, near);
}
