package export

import (
	"bufio"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded protobuf message to which fields are appended.
type message []byte

func (m *message) number(field protowire.Number, n int64) {
	if n != 0 {
		*m = protowire.AppendTag(*m, field, protowire.VarintType)
		*m = protowire.AppendVarint(*m, uint64(n))
	}
}

func (m *message) bytes(field protowire.Number, data []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, data)
}

// packed appends a number without a field number, for packed repeated fields.
func (m *message) packed(n uint64) { *m = protowire.AppendVarint(*m, n) }

// stringTable numbers the strings of a profile, and writes each string once.
type stringTable struct {
	out     *bufio.Writer // an error is kept until the final Flush
	field   protowire.Number
	numbers map[string]int64
}

// intern returns the number of a string.
func (t *stringTable) intern(s string) int64 {
	n, ok := t.numbers[s]
	if !ok {
		n = int64(len(t.numbers))
		t.numbers[s] = n
		var m message
		m.bytes(t.field, []byte(strings.ToValidUTF8(s, "\uFFFD")))
		_, _ = t.out.Write(m)
	}
	return n
}
