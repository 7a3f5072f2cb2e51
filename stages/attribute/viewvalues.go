package attribute

import (
	"stackmill/internal/chunked"
	"stackmill/schema"
)

// modeValues is a pair of values of a thing, such as exclusive and inclusive, and the modes that
// show them.
type modeValues struct {
	modes Mode
	a, b  int64
}

// modeValueList holds the values of one thing and metric in the views.
type modeValueList []modeValues

// joinEqual merges entries with equal values. It keeps the order of their first modes.
func (l modeValueList) joinEqual() modeValueList {
	joined := l[:0]
next:
	for _, v := range l {
		for i := range joined {
			if joined[i].a == v.a && joined[i].b == v.b {
				joined[i].modes |= v.modes
				continue next
			}
		}
		joined = append(joined, v)
	}
	return joined
}

// viewValues gives access to two values of each thing of one kind (functions, lines or nodes), by
// view and metric.
type viewValues struct {
	modes []Mode // by view: the modes to list, 0 for none
	count int    // number of things
	value func(view, metric, thing int) (a, b int64, ok bool)
}

// thingValues is the pair of values that a thing has in a metric.
type thingValues struct {
	thing, metric int32
	a, b          int64
}

// eachByModes calls do for the values of each thing and metric, once for all modes with equal
// values. Calls are sorted by modes, then things: rows compress best in this order, since the
// things on one path often have the same values.
func (v viewValues) eachByModes(metrics []int, do func(thing, metric int, x modeValues)) {
	var lists [Plain | Plain<<modeBits + 1]chunked.List[thingValues]
	v.each(metrics, func(thing, metric int, x modeValues) {
		lists[x.modes].Add(thingValues{int32(thing), int32(metric), x.a, x.b})
	})
	for modes := range lists {
		for i := range lists[modes].Len() {
			x := lists[modes].At(i)
			do(int(x.thing), int(x.metric), modeValues{Mode(modes), x.a, x.b})
		}
		lists[modes] = chunked.List[thingValues]{}
	}
}

// each calls do for the values of each thing and metric, once for all modes with equal values. Calls
// are sorted by things.
func (v viewValues) each(metrics []int, do func(thing, metric int, x modeValues)) {
	list := make(modeValueList, 0, len(v.modes))
	for n := range v.count {
		for i, metric := range metrics {
			list = list[:0]
			for view, modes := range v.modes {
				if modes == 0 {
					continue
				}
				if a, b, ok := v.value(view, i, n); ok {
					list = append(list, modeValues{modes, a, b})
				}
			}
			for _, x := range list.joinEqual() {
				do(n, metric, x)
			}
		}
	}
}

// appendTo appends a row for each thing, metric and pair of values; key appends the columns that
// identify the thing.
func (v viewValues) appendTo(rows *schema.Rows, metrics []int, key func(thing int)) {
	v.eachByModes(metrics, func(thing, metric int, x modeValues) {
		beginRow(rows, x.modes, metric)
		key(thing)
		rows.Int64(x.a).Int64(x.b)
	})
}
