/* SPDX-License-Identifier: MIT */
/* Our own files (state, journal): the only place that opens them. Errors carry SATED_LAYER_FILE. */
#ifndef SATED_CORE_FILE_H
#define SATED_CORE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole file into memory that the caller frees with free(). Return: 0 or an error. */
int file_read(const char *path, void **data, size_t *bytes);

/* Writes a file beside `path`, fsyncs it, renames it over `path` and fsyncs the folder: the old or the new, never a
 * torn one. `parts` of iovec are joined. */
struct file_part {
    const void *data;
    size_t bytes;
};
int file_replace(const char *path, const struct file_part *parts, size_t n);

/* Takes the exclusive lock of `path` (made as `path`.lock) until file_unlock; refused with the pid of its holder. */
struct file_lock;
int file_lock(struct file_lock **out, const char *path);
void file_unlock(struct file_lock *l);

#endif
