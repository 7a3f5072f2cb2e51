package rollup

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/arena"
)

// Function is a function as the roll-up has it.
type Function struct {
	Name, LoadObject, Module string
	ID, Key                  int64
	Kind                     string
}

// Compare orders functions as the roll-up's rows are.
func (f *Function) Compare(g *Function) int {
	return cmp.Or(strings.Compare(f.Name, g.Name), strings.Compare(f.LoadObject, g.LoadObject), strings.Compare(f.Module, g.Module),
		cmp.Compare(f.ID, g.ID), cmp.Compare(f.Key, g.Key), strings.Compare(f.Kind, g.Kind))
}

// key returns what names a function in every build, as the macro function_key of the
// catalog does.
func key(object, module, linkage string) int64 {
	sum := md5.Sum([]byte(object + "\t" + module[strings.LastIndexByte(module, '/')+1:] + "\t" + linkage))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// row is a row of the roll-up, with places in its order in place of texts.
type row struct {
	metric, modes, function, experiment int32
	unit                                int32
	exclusive, inclusive                int64
}

// keyOf packs numbers into a key that sorts by the first, then the second, then the third.
// There are fewer metrics than the rest of the bits can tell apart.
func keyOf(metric, modes, function int32) uint64 {
	return uint64(metric)<<(modesBits+functionBits) | uint64(modes)<<functionBits | uint64(function)
}

const modesBits, functionBits = 8, 31

const _ = uint(1<<modesBits - 1 - schema.ShownModes) // modes have no more bits

// sorted returns a list in the order of its keys; what has the same key stays in its order.
func sorted[T any](list []T, key func(*T) uint64) []T {
	keys := make([]arena.Keyed, len(list))
	for i := range list {
		keys[i] = arena.Keyed{Key: key(&list[i]), N: int32(i)}
	}
	ordered := make([]T, len(list))
	for i, k := range arena.Sort(keys) {
		ordered[i] = list[k.N]
	}
	return ordered
}

// Rows emits the roll-up's rows, in their order, and forgets what was collected.
func (c *Collector) Rows(emit func(*schema.Table, arrow.RecordBatch) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := slices.Sorted(maps.Keys(c.experiments))
	var known distinct
	var units names
	n := 0
	for _, e := range c.experiments {
		n += len(e.values)
	}
	rows := make([]row, 0, n)
	metrics := ranks(len(c.metrics.list), func(a, b int32) int { return strings.Compare(c.metrics.list[a], c.metrics.list[b]) })
	for n, id := range ids {
		first := len(rows)
		var err error
		if rows, err = c.experiments[id].append(rows, int32(n), &known); err != nil {
			return fmt.Errorf("experiment %s: %w", id, err)
		}
		for i := first; i < len(rows); i++ {
			metric := c.metrics.list[rows[i].metric]
			unit, ok := c.experiments[id].units[metric]
			if !ok {
				return fmt.Errorf("experiment %s: metric %s has values, but no unit", id, metric)
			}
			rows[i].metric, rows[i].unit = metrics[rows[i].metric], units.of(unit)
		}
		delete(c.experiments, id)
	}
	functions := ranks(len(known.list), func(a, b int32) int { return known.list[a].Compare(&known.list[b]) })
	for i := range rows {
		rows[i].function = functions[rows[i].function]
	}
	rows = sorted(rows, func(r *row) uint64 { return keyOf(r.metric, r.modes, r.function) }) // those of experiments are in order
	slices.Sort(c.metrics.list)
	slices.SortFunc(known.list, func(f, g Function) int { return f.Compare(&g) })
	return emitRows(rows, newTexts(ids, c.metrics.list, units.list, known.list), emit)
}

// append appends an experiment's rows. Of modes in which a function has the same values
// it makes one row.
func (e *experiment) append(rows []row, number int32, known *distinct) ([]row, error) {
	values := sorted(e.values, func(v *value) uint64 {
		return uint64(v.function)<<(64-functionBits) | keyOf(v.metric, v.modes, 0)>>functionBits
	})
	last, at := int32(-1), int32(0)
	for i, v := range values {
		if v.function != last {
			var f function
			if uint(v.function) < uint(len(e.functions)) {
				f = e.functions[v.function]
			}
			if !f.is {
				return nil, fmt.Errorf("function %d has values, but no name", v.function)
			}
			last, at = v.function, known.of(Function{Name: f.name, LoadObject: e.objects[f.object], Module: e.modules[f.module], ID: f.id, Kind: f.kind}, f.linkage)
		}
		if i > 0 && merge(rows, &v, at, number) {
			continue
		}
		rows = append(rows, row{v.metric, v.modes, at, number, 0, v.exclusive, v.inclusive})
	}
	return rows, nil
}

// merge adds the modes of a value to those of a row of the same function, metric and
// values, if there is one at the end.
func merge(rows []row, v *value, function, experiment int32) bool {
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		if r.function != function || r.metric != v.metric || r.experiment != experiment {
			return false
		}
		if r.exclusive == v.exclusive && r.inclusive == v.inclusive {
			r.modes |= v.modes
			return true
		}
	}
	return false
}

// distinct are the functions of all experiments, each once.
type distinct struct {
	list   []Function
	number map[named]int32
}

// named is a function, without its key, which is made of the linkage name.
type named struct {
	Function
	linkage string
}

func (d *distinct) of(f Function, linkage string) int32 {
	n, ok := d.number[named{f, linkage}]
	if !ok {
		if d.number == nil {
			d.number = map[named]int32{}
		}
		n = int32(len(d.list))
		d.number[named{f, linkage}] = n
		f.Key = key(f.LoadObject, f.Module, linkage)
		d.list = append(d.list, f)
	}
	return n
}

// ranks returns the place of each of n things in their order.
func ranks(n int, compare func(a, b int32) int) []int32 {
	order, ranks := make([]int32, n), make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, compare)
	for i, at := range order {
		ranks[at] = int32(i)
	}
	return ranks
}
