package perfdata

import (
	"encoding/binary"
	"fmt"
	"testing"

	"stackmill/stages/decode"
)

// The data of a sample tell thread, time and stack; a sample whose data end too early is not read.
func TestReadOffCPU(t *testing.T) {
	raw := func(words ...uint64) (b []byte) {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return append(b, 0, 0, 0, 0) // padding
	}
	const user = ^uint64(511)
	for _, test := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"whole", raw(12<<32|11, 500, 3, user, 0x4010, 0x4100, 7), "true 11 12 500 0x4010 24 7"},
		{"no stack", raw(12<<32|11, 500, 1, user, 7), "true 11 12 500 0x0 8 7"},
		{"no words", raw(12<<32|11, 500, 0, 7), "true 11 12 500 0x0 0 7"},
		{"stack longer than the data", raw(12<<32|11, 500, 1<<61, user, 7), "false 11 12 500 0x0 0 0"},
		{"cut", raw(12<<32|11, 500, 2, user, 0x4010), "false 11 12 500 0x4010 16 0"},
		{"empty", nil, "false 0 0 0 0x0 0 0"},
	} {
		s := sample{raw: test.raw}
		ok := s.readOffCPU(false)
		if got := fmt.Sprintf("%t %d %d %d %#x %d %d", ok, s.pid, s.tid, s.period, s.ip, len(s.chain), s.cgroup); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	own := &parsedSample{}
	own.wait.narrow[rowEvent] = decode.WaitSum
	if s := own.waitStack(&decode.RawStack{Words: []uint64{0}}); len(s.Words) > 0 || s.Reason != decode.ReasonNoWaitStack || s.OMPState != decode.StateSum {
		t.Errorf("without a stack: %+v", s)
	}
}
