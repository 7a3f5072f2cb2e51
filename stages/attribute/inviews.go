package attribute

import (
	"stackmill/internal/chunked"
	"stackmill/schema"
)

// inViews are two values that things of a kind have in the views, for some metrics.
type inViews struct {
	modes  []Mode // by view: those that are asked for, none if it is left out
	things int
	of     func(view, metric, thing int) (a, b int64, ok bool)
}

// each calls do with the values of all things, once for all modes in which both are the
// same. Those of the same modes come together, and of these those of a thing: things of
// one path have the same values for all metrics.
func (v inViews) each(metrics []int, do func(thing, metric int, x shared)) {
	var found [Plain | Plain<<modeBits + 1]chunked.List[valued]
	v.pass(metrics, func(thing, metric int, x shared) {
		found[x.modes].Add(valued{int32(thing), int32(metric), x.a, x.b})
	})
	for modes := range found {
		for i := range found[modes].Len() {
			f := found[modes].At(i)
			do(int(f.thing), int(f.metric), shared{Mode(modes), f.a, f.b})
		}
		found[modes] = chunked.List[valued]{}
	}
}

// valued is a thing that has two values of a metric.
type valued struct {
	thing, metric int32
	a, b          int64
}

// pass is each in the order of things.
func (v inViews) pass(metrics []int, do func(thing, metric int, x shared)) {
	s := make(sharing, 0, len(v.modes))
	for n := range v.things {
		for i, metric := range metrics {
			s = s[:0]
			for view, modes := range v.modes {
				if modes == 0 {
					continue
				}
				if a, b, ok := v.of(view, i, n); ok {
					s = append(s, shared{modes, a, b})
				}
			}
			for _, x := range s.join() {
				do(n, metric, x)
			}
		}
	}
}

// sums appends a row for both values; key appends the columns that name the thing.
func (v inViews) sums(rows *schema.Rows, metrics []int, key func(thing int)) {
	v.each(metrics, func(thing, metric int, x shared) {
		begin(rows, x.modes, metric)
		key(thing)
		rows.Int64(x.a).Int64(x.b)
	})
}
