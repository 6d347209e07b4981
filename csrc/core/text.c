/* SPDX-License-Identifier: MIT */
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM_LEAST 4096

/* Makes room for n more bytes and a NUL. */
static bool grow(struct text *t, size_t n)
{
    size_t room = t->room ? t->room : ROOM_LEAST;
    while (room - t->used <= n)
        room *= 2;
    if (room == t->room)
        return true;
    char *more = realloc(t->data, room);
    t->failed = t->failed || !more;
    if (!more)
        return false;
    t->data = more;
    t->room = room;
    return true;
}

void text_say(struct text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0)
        t->failed = true;
    if (!t->failed && grow(t, (size_t)n))
        t->used += (size_t)vsnprintf(t->data + t->used, t->room - t->used, format, again);
    va_end(again);
    va_end(args);
}

void text_say_string(struct text *t, const char *value)
{
    text_say(t, "\"");
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if (*p == '"' || *p == '\\')
            text_say(t, "\\%c", *p);
        else
            text_say(t, *p >= ' ' && *p < 0x7f ? "%c" : "\\u00%02x", *p);
    text_say(t, "\"");
}

void text_say_json(struct text *t, const char *name, const char *value)
{
    text_say(t, "\"%s\": ", name);
    text_say_string(t, value);
}
