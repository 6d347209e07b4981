/* SPDX-License-Identifier: MIT */
/* What is being done to a drive, on disk before each command of it is sent, so that whatever interrupts it is found
 * again: one file for each drive and kind of operation, in the folder SATED_STATE_DIR. */
#ifndef SATED_DRIVE_JOURNAL_H
#define SATED_DRIVE_JOURNAL_H

#include "core/json.h"
#include "transport/handle.h"

struct journal;

/* Begins one, locked for as long as it is open. Of a drive that nothing outlasts (replayed, simulated without state=) a
 * journal is kept in memory only. @param operation "purge", "capacity" or "settings"; @param plan a JSON object: all
 * that finishing or undoing it takes.
 * Return: 0; SATED_STATE if there is an unfinished one, -EBUSY with the pid while another process is at it, or an errno
 * of SATED_LAYER_FILE. Owner: the caller, by journal_finish or journal_leave. */
int journal_start(struct journal **out, struct sated_drive *d, const char *operation, const char *plan);

/* Notes what is done next; on disk when it returns. @param step such as "SECURITY SET PASSWORD". Return: 0 or an error:
 * then the command must not be sent. */
int journal_step(struct journal *j, const char *step);

/* Finds an unfinished one. @param out NULL where there is none. Return: 1, 0, -EBUSY with the pid while another process
 * is at it, SATED_STATE for one that cannot be read (what to do is said), or an errno. */
int journal_find(struct journal **out, struct sated_drive *d, const char *operation);

/* Of one that was found: its plan, its last step ("" before the first), and when it began (UTC, ISO 8601). */
const struct json *journal_plan(const struct journal *j);
const char *journal_last_step(const struct journal *j);
const char *journal_began(const struct journal *j);

/* Over: its file goes. */
int journal_finish(struct journal *j);

/* Not over: its file stays, for whoever goes on. NULL does nothing. */
void journal_leave(struct journal *j);

#endif
