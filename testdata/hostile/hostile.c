// A program whose names steer a terminal, turn text, and are no UTF-8: its
// function, its source file, its command name and the file that it writes. make.sh
// gives it such a path, too.
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

void *kept[100];

void work(int n); // objcopy changes its name

#line 1 "a\033[2J\377.c"
void work(int n)
{
    for (int i = 0; i < n; i++)
        for (volatile int k = 0; k < 3000000; k++)
            ;
    for (int i = 0; i < 100; i++)
        kept[i] = malloc(1000);
}

int main(void)
{
    prctl(PR_SET_NAME, "c\033[2J\377\nx");
    work(30);
    FILE *f = fopen("out\033[2J\377", "w");
    fputs("text", f);
    return fclose(f);
}
