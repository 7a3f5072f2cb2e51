package dataspace

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/symbolize/image"
)

// Stacks of threads and coroutines may be anywhere except in a load object.
func TestStacksOfThreads(t *testing.T) {
	stack, pointed := operand{operandTarget: operandTarget{method: MethodStack}, frame: true}, operand{operandTarget: operandTarget{method: MethodVariable}}
	for _, x := range []struct {
		kind           string
		stack, pointed bool
	}{
		{RegionStack, true, true}, {RegionAnonymous, true, true}, {RegionHeap, true, true}, {RegionBlock, true, true}, {RegionUnknown, true, true},
		{RegionSegment, false, true}, {RegionKernel, false, false},
	} {
		if w := (addressInfo{kind: x.kind}); stack.canBeAt(w) != x.stack || pointed.canBeAt(w) != x.pointed {
			t.Errorf("%s: stack %v, pointed to %v", x.kind, stack.canBeAt(w), pointed.canBeAt(w))
		}
	}
	p := &decode.Process{DataMappings: []decode.MapEvent{{Address: 0x1000, Size: 0x1000, Path: "[stack:17]", Modes: 3}}}
	im, sizes := newAddressSpace(p)
	m := &memory{
		space: New(nil, nil, nil), kernel: func(uint64) bool { return false }, finder: im.Finder(), sizes: sizes,
		regions: map[regionKey]RegionNo{}, mappings: map[*image.Mapping]addressInfo{},
	}
	if w := m.lookUp(0x1800, 0); w.kind != RegionStack {
		t.Errorf("a thread's stack is %s", w.kind)
	}
}
