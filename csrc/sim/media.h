/* SPDX-License-Identifier: MIT */
/* The medium as the device side of the protocols uses it: bytes at an offset, one command at a time, in the drive's own
 * time. Offsets are those of the whole drive, whatever of it can be addressed now; the targets keep to what can. */
#ifndef SATED_SIM_MEDIA_H
#define SATED_SIM_MEDIA_H

#include <stdbool.h>
#include <stdint.h>

struct sim;

/* All below: offsets and lengths are multiples of 512 bytes, within the drive. Return: 0, -ENOMEM, -ENODATA
 * where data was lost (flaw.h says where), -EIO where the drive takes no more writes. */
int media_read(struct sim *s, uint64_t offset, void *out, uint32_t bytes);
int media_write(struct sim *s, uint64_t offset, const void *data, uint32_t bytes);

/* Whether all of it could be read: 0 or -ENODATA. Takes no time. */
int media_verify(struct sim *s, uint64_t offset, uint64_t bytes);

/* The bytes of a mapping unit as they are now, without a command. */
void media_unit(const struct sim *s, uint32_t unit, uint8_t *out);

/* Deallocates whole units and zeroes the parts of others: all of it reads as zeros afterwards. */
int media_trim(struct sim *s, uint64_t offset, uint64_t bytes);

/* Fills a span with a repeated 8-byte word, as WRITE SAME does. */
int media_fill(struct sim *s, uint64_t offset, uint64_t bytes, uint64_t word);

/* Programs what the write buffer holds, and takes its time. */
void media_flush(struct sim *s);

/* Whether the whole unit at an offset holds data. */
bool media_is_mapped(const struct sim *s, uint64_t offset);

/* What an erase of the whole drive does to it, spare area and what cannot be addressed included; takes no time, as the
 * operation that ends in it took it. */
void media_erase(struct sim *s);

/* The same for a span: units that are wholly inside. */
void media_erase_span(struct sim *s, uint64_t offset, uint64_t bytes);

/* What an overwrite of the whole drive does: every unit holds data, and reads as the word. */
void media_overwrite(struct sim *s, uint64_t word);

/* How long erasing the whole drive takes, in its own time. */
int64_t media_erase_ns(const struct sim *s);

/* A command that moves no user data takes its time. */
void media_spend(struct sim *s, int64_t ns);

#endif
