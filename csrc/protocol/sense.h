/* SPDX-License-Identifier: MIT */
#ifndef SATED_PROTOCOL_SENSE_H
#define SATED_PROTOCOL_SENSE_H

#include <sated/scsi.h>

/* Whether it is sense data at all: 0, or SATED_PARSE if the response code is none of 70h to 73h. */
int sense_check(const uint8_t *sense, size_t n);

/* Walks the descriptors of sense data in the descriptor format, within its ADDITIONAL SENSE LENGTH and n.
 * @param at 8 for the first one, then what was returned; @param d filled. Return: where the next one starts, 0 at the
 * end. */
size_t sense_next_descriptor(const uint8_t *sense, size_t n, size_t at, struct sated_scsi_sense_descriptor *d);

#endif
