/* SPDX-License-Identifier: MIT */
/* From a model's numbers about the life of its flash to blocks and erases. */
#include "core/error.h"
#include "sim/model.h"

#define WHOLE_SHARE 1000000000ULL
/* Where a model does not say. */
#define ENDURANCE 3000 /* erases of a block */
#define SLC_BITS 3
#define SLC_PROGRAM_NS 200000 /* SLC: 200 to 300 us, read in 25 (AnandTech, "Understanding TLC NAND", 2012) */
#define SLC_READ_NS 25000
#define SLC_IDLE_NS 100000000

static uint64_t share_of(uint64_t whole, uint64_t share, uint64_t round_up)
{
    return (uint64_t)(((unsigned __int128)whole * share + round_up) / WHOLE_SHARE);
}

int model_spares(struct model *m)
{
    if (!m->endurance)
        m->endurance = ENDURANCE;
    m->wear_erases = share_of(m->endurance, m->wear_limit, WHOLE_SHARE - 1);
    m->data_dies = m->domain_dies - m->parity;
    if (!m->slc_bits)
        m->slc_bits = SLC_BITS;
    if (!m->slc_program_ns)
        m->slc_program_ns = SLC_PROGRAM_NS;
    if (!m->slc_read_ns)
        m->slc_read_ns = SLC_READ_NS;
    m->slc_idle_ns = (m->slc_idle_ns ? m->slc_idle_ns : SLC_IDLE_NS) / m->scale;
    if (m->parity && m->domain_dies < 3)
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "sim:%s: parity needs three dies among which a block lies, and there are %llu; choose more dies, "
            "or domain=drive",
            m->name, (unsigned long long)m->domain_dies);
    m->spares = share_of(m->per_domain, m->spare, WHOLE_SHARE - 1);
    m->factory_bad_blocks = share_of(m->per_domain + m->spares, m->factory_bad, WHOLE_SHARE / 2);
    if (m->factory_bad_blocks > m->spares)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: factory_bad leaves %llu blocks of a domain bad, and spare_blocks keeps %llu to take "
                         "their place; keep more",
                         m->name, (unsigned long long)m->factory_bad_blocks, (unsigned long long)m->spares);
    m->per_domain += m->spares;
    return 0;
}

uint64_t model_flash_bytes(const struct model *m, uint64_t pages)
{
    uint64_t bytes = (pages + share_of(m->units, m->slc_static, 0) * m->slc_bits) * m->unit_bytes;
    return bytes + (m->parity ? (bytes + m->data_dies - 1) / m->data_dies : 0);
}
