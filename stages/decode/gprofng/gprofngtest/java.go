package gprofngtest

// Class adds a Java class to jclasses (gprofng-experiment 3.7): name in the
// form `Lpkg/Name;`.
func (e *Experiment) Class(id uint64, name, file string) {
	e.class(10<<8|3, id, 0, name, file)
}

// Method adds a method of the class that was added last.
func (e *Experiment) Method(class, id uint64, name, signature string) {
	e.class(11<<8|3, class, id, name, signature)
}

func (e *Experiment) class(typ uint16, first, second uint64, texts ...string) {
	o := e.order()
	b := o.AppendUint64(o.AppendUint64(make([]byte, 8), first), second)
	for _, t := range texts {
		b = append(b, t...)
		b = append(b, make([]byte, (len(t)+4)&^3-len(t))...)
	}
	o.AppendUint16(o.AppendUint16(b[:0], uint16(len(b))), typ)
	if e.classes == nil {
		var err error
		e.classes, err = e.newBlocks("jclasses")
		e.fail(err)
	}
	buf, err := e.classes.append(0, len(b))
	if err != nil {
		e.fail(err)
		return
	}
	buf.data = append(buf.data, b...)
}

// Overview adds a record to the overview (gprofng-experiment 3.5): the time,
// and what the process used since its start, in the order of
// schema.OverviewTimes and schema.OverviewCounts. Missing values are 0.
func (e *Experiment) Overview(time int64, times, counts []int64) {
	e.overview = append(e.overview, make([]byte, 8)...)
	pair := func(ns int64) {
		e.overview = e.appendWord(e.appendWord(e.overview, uint64(ns/1e9)), uint64(ns%1e9))
	}
	at := func(values []int64, i int) int64 {
		if i < len(values) {
			return values[i]
		}
		return 0
	}
	pair(time + e.Start)
	pair(0) // creation
	pair(0) // termination
	for i := range 11 + 6 {
		pair(at(times, i))
	}
	for i := range 12 + 10 {
		e.overview = e.appendWord(e.overview, uint64(at(counts, i)))
	}
}
