package verify

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"math/bits"

	"stackmill/schema"
)

// digest is a sum of hashes of rows, which does not depend on the order of the rows.
type digest [2]uint64

// add adds a row once for each of its modes, given as a bit set. So the digest stays the same if
// rows that differ only in their modes are merged.
func (d *digest) add(modes int64, values ...int64) {
	a, b := uint64(len(values)), uint64(0x9e3779b97f4a7c15)
	for _, v := range values {
		a = mixed(a ^ uint64(v))
		b = mixed(b + uint64(v)*0xd6e8feb86659fd93)
	}
	for left := cmp.Or(uint64(modes), 1<<63); left != 0; left &= left - 1 { // count a row of no mode as well
		mode := uint64(bits.TrailingZeros64(left))
		var carry uint64
		d[0], carry = bits.Add64(d[0], mixed(a^mode), 0)
		d[1] += mixed(b+mode) + carry
	}
}

// mixed returns a hash of n.
func mixed(n uint64) uint64 {
	n = (n ^ n>>32) * 0xd6e8feb86659fd93
	n = (n ^ n>>29) * 0x9fb21c651e98df25
	return n ^ n>>32
}

// rollup returns the digest of each experiment's rows in function_rollup, which are not sorted by
// experiment.
func (p *batch) rollup() (map[int64]digest, error) {
	all := map[int64]digest{}
	c := p.cursors[schema.FunctionRollup.Name]
	for c != nil {
		done, err := c.done()
		if done || err != nil {
			return all, err
		}
		id, first := c.block.values[0], 1+c.table.ModeColumns()
		modes, v := sets(c.block.values[1:first], c.block.n), c.block.values[first:] // v: metric, function_id, then the columns of extraColumns
		for i := range c.block.n {
			d := all[id[i]]
			d.add(modes[i], v[0][i], v[1][i], v[2][i], v[3][i], v[4][i], v[5][i], v[6][i], v[7][i], v[8][i], v[9][i])
			all[id[i]] = d
		}
		c.at = c.block.n
	}
	return all, nil
}

// checkRollup checks that function_rollup has the values of all functions, with their names, and
// that no two functions have the same key.
func (x *experiment) checkRollup() error {
	f, t := schema.Functions, schema.FunctionValues
	objects, modules := numbered(x.col(schema.LoadObjects, "load_object_id")), numbered(x.col(schema.Modules, "module_id"))
	type names struct{ id, key, function, object, module, kind int64 }
	known := make([]names, x.len(f))
	keys := make(map[int64]bool, len(known))
	ids, object, module := x.col(f, "function_id"), x.col(f, "load_object_id"), x.col(f, "module_id")
	for i := range known {
		o, m := objects[object[i]], modules[module[i]]
		known[i] = names{ids[i], functionKey(x.texts(f, "name_scope")[i], ids[i], x.texts(schema.LoadObjects, "short_path")[o], x.texts(schema.Modules, "short_path")[m], cmp.Or(x.texts(f, "other_linkage_name")[i], x.texts(f, "name")[i])),
			x.col(f, "name")[i], x.col(schema.LoadObjects, "name")[o], x.col(schema.Modules, "name")[m], x.col(f, "kind")[i]}
		if keys[known[i].key] {
			return errors.New("functions: two functions have the same key")
		}
		keys[known[i].key] = true
	}
	var want digest
	units := x.col(schema.Metrics, "unit")
	metrics, modes, exclusive, inclusive := x.col(t, "metric"), x.modes(t), x.col(t, "exclusive"), x.col(t, "inclusive")
	for i, no := range x.col(t, "function_no") {
		n := known[x.functions[no]]
		want.add(modes[i], metrics[i], n.id, units[x.metrics[metrics[i]]], n.key, n.function, n.object, n.module, n.kind, exclusive[i], inclusive[i])
	}
	if want != x.rollupDigest {
		return errors.New("function_rollup: the values differ from the values of the functions")
	}
	return nil
}

func (x *experiment) texts(t *schema.Table, name string) []string {
	return x.rows[t].texts[x.index(t, name)]
}

// functionKey computes what the macro function_key of the views does.
func functionKey(scope string, id int64, object, module, name string) int64 {
	switch scope {
	case "build":
		return id
	case "object":
		module = ""
	}
	sum := md5.Sum([]byte(object + "\t" + module + "\t" + name))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}
