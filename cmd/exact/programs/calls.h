void other_unit(void);
