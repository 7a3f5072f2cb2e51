package attribute

import "stackmill/stages/symbolize"

// Values are the values of one metric in one view, but those of code.
type Values struct {
	Total     int64
	Functions tally[symbolize.FunctionNo]
	Modules   tally[symbolize.ModuleNo]
	Objects   tally[symbolize.ObjectNo]
	Calls     calls
}

// sums sets, by node of the tree, the value of the stacks that end there and of those
// that pass, too.
func (t *CallTree) sums(view int, sums *Sums, metric int, own, all []int64) {
	clear(own)
	for n, end := range t.ends[view] {
		own[end] += sums.value(RecordedNo(n), metric)
	}
	copy(all, own)
	total(t.Parent, all)
}

// values counts a metric's values of the tree's nodes.
func (t *CallTree) values(own, all []int64) *Values {
	p := t.program
	v := &Values{
		Total:     all[0],
		Functions: newTally[symbolize.FunctionNo](len(p.Functions)),
		Modules:   newTally[symbolize.ModuleNo](len(p.Modules)),
		Objects:   newTally[symbolize.ObjectNo](len(p.Objects)),
	}
	for n := int32(1); int(n) < t.Len(); n++ {
		last := n + t.Below[n]
		if all[n] == 0 {
			n = last
			continue
		}
		function := t.Label[n]
		f := &p.Functions[function]
		v.Functions.pass(function, n, last, all[n])
		v.Modules.pass(f.Module, n, last, all[n])
		v.Objects.pass(f.Object, n, last, all[n])
		if own := own[n]; own > 0 {
			v.Functions.Exclusive[function] += own
			v.Modules.Exclusive[f.Module] += own
			v.Objects.Exclusive[f.Object] += own
		}
	}
	v.Calls = t.calls(all)
	return v
}
