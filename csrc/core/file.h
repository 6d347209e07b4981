/* SPDX-License-Identifier: MIT */
/* Our own files (state, journal): the only place that opens them. Errors carry SATED_LAYER_FILE. */
#ifndef SATED_CORE_FILE_H
#define SATED_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* open(2) with O_CLOEXEC, EINTR retried. */
int file_open(const char *path, int flags, mode_t mode);

/* The real path that a path leads to, also where the file itself is not there yet. @param out the caller frees.
 * Return: 0 or an error. */
int file_real(const char *path, char **out);

/* Whether a file begins with these bytes (64 at most); also true for one that is empty or not there.
 * Return: 1, 0, or an error. */
int file_begins(const char *path, const void *with, size_t bytes);

/* Reads a whole file into memory that the caller frees with free(). Return: 0 or an error. */
int file_read(const char *path, void **data, size_t *bytes);

/* Writes a file beside `path`, fsyncs it, renames it over `path` and fsyncs the folder: the old or the new, never a
 * torn one. A link is written through. `parts` of iovec are joined. */
struct file_part {
    const void *data;
    size_t bytes;
};
int file_replace(const char *path, const struct file_part *parts, size_t n);

/* Writes a new file; -EEXIST where there is anything of that name, be it a link that leads nowhere. */
int file_create(const char *path, const struct file_part *parts, size_t n);

/* Overwrites bytes of a file in place, where a torn write cannot be: within one sector. Return: 0 or an error. */
int file_patch(const char *path, uint64_t offset, const void *data, size_t bytes);

/* Makes a folder, and those above it, with this mode where they are not there. Return: 0 or an error. */
int file_folder(const char *path, mode_t mode);

/* Whether a folder is root's or this user's, and not for everybody to write to: who goes by its files does what they say.
 * Return: 0, SATED_UNSAFE with what to do, or an errno. */
int file_folder_check(const char *path);

/* Removes a file, on stable storage; one that is not there is removed already. Return: 0 or an error. */
int file_remove(const char *path);

/* Takes the exclusive lock of `path` (made as `path`.lock) until file_unlock; refused with the pid of its holder, or by
 * SATED_UNSAFE where `path`.lock is anything but such a lock. The name is what is locked: pass what file_real() says. */
struct file_lock;
int file_lock(struct file_lock **out, const char *path);
void file_unlock(struct file_lock *l);

/* Whether this process took the lock: a forked child has a copy that is not its own, and must leave the file alone. */
bool file_lock_is_ours(const struct file_lock *l);

#endif
