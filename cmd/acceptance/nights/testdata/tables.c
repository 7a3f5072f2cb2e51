/* Words in a hash table and a binary tree, sorted and searched, and a chain of pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 40000
#define NOINLINE __attribute__((noinline))

static struct word {
	struct word *next, *left, *right;
	unsigned hash, count;
	char text[12];
} *table[8192], *root, *all[WORDS], pool[WORDS * 2];
static int used;
static unsigned seed;

NOINLINE void make_text(char *text)
{
	seed = seed * 1664525u + 1013904223u;
	unsigned v = seed >> 14;
	int n = 3 + v % 7;
	for (int i = 0; i < n; i++) {
		text[i] = 'a' + v % 17;
		v = v / 3 + i * 7;
	}
	text[n] = 0;
}

NOINLINE unsigned hash_text(const char *text)
{
	unsigned h = 2166136261u;
	for (int round = 0; round < 3; round++)
		for (const char *p = text; *p; p++)
			h = (h ^ (unsigned char)*p) * 16777619u;
	return h;
}

NOINLINE struct word *look_up(const char *text)
{
	unsigned h = hash_text(text);
	for (struct word *w = table[h % 8192]; w; w = w->next)
		if (w->hash == h && !strcmp(w->text, text))
			return w;
	struct word *w = &pool[used++];
	w->hash = h;
	strcpy(w->text, text);
	w->next = table[h % 8192];
	table[h % 8192] = w;
	return w;
}

NOINLINE void insert_tree(struct word *w)
{
	struct word **p = &root;
	while (*p)
		p = strcmp(w->text, (*p)->text) < 0 ? &(*p)->left : &(*p)->right;
	*p = w;
}

NOINLINE long walk_tree(struct word *w)
{
	return w ? walk_tree(w->left) + w->count + walk_tree(w->right) : 0;
}

NOINLINE int by_count(const void *a, const void *b)
{
	const struct word *x = *(struct word **)a, *y = *(struct word **)b;
	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

NOINLINE long chase(long n)
{
	static int next[1 << 18];
	if (!next[0])
		for (int i = 0; i < 1 << 18; i++)
			next[i] = (int)((i * 40503u + 12345) & ((1 << 18) - 1));
	long at = 1;
	while (n--)
		at = next[at];
	return at;
}

int main(void)
{
	long sum = 0;
	for (int round = 0; round < 26; round++) {
		memset(table, 0, sizeof table);
		memset(pool, 0, sizeof pool);
		root = 0;
		used = 0;
		char text[16];
		for (int i = 0; i < WORDS; i++) {
			make_text(text);
			look_up(text)->count++;
		}
		for (int i = 0; i < used; i++) {
			all[i] = &pool[i];
			insert_tree(&pool[i]);
		}
		sum += walk_tree(root);
		qsort(all, used, sizeof *all, by_count);
		sum += all[0]->count + chase(400000);
	}
	printf("%ld\n", sum);
	return 0;
}
