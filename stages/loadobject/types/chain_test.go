package types

import "testing"

// Deeply nested structures are examined without recursion: a stack overflow would end the whole
// run.
func TestLongChain(t *testing.T) {
	const n = 1 << 23
	table := &Table{Types: make([]Type, n), Members: make([]Member, n)}
	for i := range table.Types {
		table.Types[i] = Type{Kind: Structure, First: MemberNo(i), Members: 1}
		table.Members[i].Type = TypeNo(min(i+1, n-1))
	}
	table.Members[n-1].Bits = 3
	table.Index()
	for _, typ := range []TypeNo{0, n / 2, n - 1} {
		if !table.bitFields[typ] {
			t.Errorf("type %d has no bit field", typ)
		}
	}
}
