/* Keeps many sessions in a table, of which hardly any is used: the example of docs/data-objects.md. */
#include <stdio.h>
#include <stdlib.h>

enum { SESSIONS = 5000 };

struct session {
    long id;
    char reply[4000];
    long last_used;
    int state;
};

static struct session *table;
static long opened;

static void open_sessions(void)
{
    for (int i = 0; i < SESSIONS; i++) {
        struct session *s = &table[i];
        s->id = i;
        s->state = 1;
        opened++;
    }
}

static long count_open(void)
{
    long n = 0;
    for (int i = 0; i < SESSIONS; i++) {
        n += table[i].state;
    }
    return n;
}

int main(void)
{
    table = calloc(SESSIONS, sizeof *table);
    if (!table) {
        return 1;
    }
    open_sessions();
    printf("%ld of %ld sessions are open\n", count_open(), opened);
    return 0;
}
