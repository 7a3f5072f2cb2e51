package columns

// Coder writes the fields of a table, or reads them in the same order: one function describes both.
type Coder struct {
	w *Writer // nil for reading
	r *Reader
}

// Coder returns a coder that writes.
func (w *Writer) Coder() Coder { return Coder{w: w} }

// Coder returns a coder that reads.
func (r *Reader) Coder() Coder { return Coder{r: r} }

func code[T any](c Coder, list []*T, write func(*Writer, T), read func(*Reader) T) {
	for _, v := range list {
		if c.w != nil {
			write(c.w, *v)
		} else {
			*v = read(c.r)
		}
	}
}

// Uint codes numbers.
func (c Coder) Uint(list ...*uint64) { code(c, list, (*Writer).Uint, (*Reader).Uint) }

// Int codes signed numbers.
func (c Coder) Int(list ...*int64) { code(c, list, (*Writer).Int, (*Reader).Int) }

// Bool codes booleans.
func (c Coder) Bool(list ...*bool) { code(c, list, (*Writer).Bool, (*Reader).Bool) }

// Text codes strings.
func (c Coder) Text(list ...*string) { code(c, list, (*Writer).Text, (*Reader).Text) }

// Texts codes a list of strings.
func (c Coder) Texts(list *[]string) { code(c, []*[]string{list}, (*Writer).Texts, (*Reader).Texts) }

// From codes a number as its difference to a base.
func (c Coder) From(base uint64, v *uint64) {
	if c.w != nil {
		c.w.Uint(*v - base)
	} else {
		*v = base + c.r.Uint()
	}
}

// Below codes numbers less than n.
func Below[N ~int32 | ~uint8 | ~uint32](c Coder, n int, list ...*N) {
	code(c, list, func(w *Writer, v N) { w.Uint(uint64(v)) }, func(r *Reader) N { return N(r.Below(n)) })
}

// Int16 codes a signed number of 16 bits.
func (c Coder) Int16(v *int16) {
	code(c, []*int16{v}, func(w *Writer, v int16) { w.Int(int64(v)) }, func(r *Reader) int16 { return int16(r.Int()) })
}

// Length codes the length of a list, and when reading allocates the list.
func Length[T any](c Coder, list *[]T) {
	if c.w != nil {
		c.w.Count(len(*list))
	} else {
		*list = Slice[T](c.r.Count())
	}
}

// List codes a list whose elements f codes.
func List[T any](c Coder, list *[]T, f func(i int, x *T)) {
	Length(c, list)
	for i := range *list {
		f(i, &(*list)[i])
	}
}
