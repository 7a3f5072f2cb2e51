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

// Uint writes or reads numbers.
func (c Coder) Uint(list ...*uint64) { code(c, list, (*Writer).Uint, (*Reader).Uint) }

// Int writes or reads signed numbers.
func (c Coder) Int(list ...*int64) { code(c, list, (*Writer).Int, (*Reader).Int) }

// Bool writes or reads booleans.
func (c Coder) Bool(list ...*bool) { code(c, list, (*Writer).Bool, (*Reader).Bool) }

// Text writes or reads strings.
func (c Coder) Text(list ...*string) { code(c, list, (*Writer).Text, (*Reader).Text) }

// Texts writes or reads a list of strings.
func (c Coder) Texts(list *[]string) { code(c, []*[]string{list}, (*Writer).Texts, (*Reader).Texts) }

// From writes or reads a number as its difference to a base.
func (c Coder) From(base uint64, v *uint64) {
	if c.w != nil {
		c.w.Uint(*v - base)
	} else {
		*v = base + c.r.Uint()
	}
}

// Below writes or reads numbers less than n.
func Below[N ~int32 | ~uint8 | ~uint32](c Coder, n int, list ...*N) {
	code(c, list, func(w *Writer, v N) { w.Uint(uint64(v)) }, func(r *Reader) N { return N(r.Below(n)) })
}

// Int16 writes or reads a signed number of 16 bits.
func (c Coder) Int16(v *int16) {
	code(c, []*int16{v}, func(w *Writer, v int16) { w.Int(int64(v)) }, func(r *Reader) int16 { return int16(r.Int()) })
}

// Length writes or reads the length of a list. When reading, it allocates the list.
func Length[T any](c Coder, list *[]T) {
	if c.w != nil {
		c.w.Count(len(*list))
	} else {
		*list = Slice[T](c.r.Count())
	}
}

// List writes or reads a list. It calls f to write or read each element.
func List[T any](c Coder, list *[]T, f func(i int, x *T)) {
	Length(c, list)
	for i := range *list {
		f(i, &(*list)[i])
	}
}
