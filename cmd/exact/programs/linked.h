void library_call(void (*back)(void));
void library_inline(void);
void replaced(void);
