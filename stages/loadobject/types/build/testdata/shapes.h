/* What two units share: `list_t` must come out as one type, `private` as two. */
struct private;
typedef struct list_t {
  struct list_t *next, **tail;
  struct private *private;
  unsigned long weight;
} list_t;
extern list_t head;
