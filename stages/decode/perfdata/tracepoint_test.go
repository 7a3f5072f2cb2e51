package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// If nothing else names a tracepoint, its description does: after the record in a pipe, inside the
// record, or in a feature of the file.
func TestTracepointNames(t *testing.T) {
	typ := uint32(typeTracepoint)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, recordOffset := range []string{"behind", "inside", "feature", "cut"} {
			t.Run(fmt.Sprint(recordOffset, order), func(t *testing.T) {
				b := &builder{order: order, typ: &typ, config: 77}
				described := tracingData(order)
				want := "sched:sched_switch"
				switch recordOffset {
				case "cut":
					described, want = described[:len(described)/2], "event-2-0x4d:HG"
					fallthrough
				case "inside":
					described = append(described, make([]byte, -(len(described)+4)&7)...)
					b.record(recordTracingData, 0, uint32(len(described)), string(described))
				case "behind":
					b.record(recordTracingData, 0, uint32(len(described)), uint32(0))
					b.data = append(append(b.data, described...), make([]byte, -len(described)&7)...)
				case "feature":
					b.features = append(b.features, testFeature{featureTracing, described})
				}
				for i := range 3 {
					b.sample(1, 10+i, user, 0x4010+i)
				}
				path := filepath.Join(t.TempDir(), "perf.data")
				if err := os.WriteFile(path, b.file(), 0o644); err != nil {
					t.Fatal(err)
				}
				rec := New().Open(t.Context(), path)
				defer rec.Close()
				if len(rec.Processes) != 1 {
					t.Fatal(rec.Problems.Problems)
				}
				if got := rec.Processes[0].Counters[0].Name; got != want {
					t.Errorf("the event is %s, want %s", got, want)
				}
			})
		}
	}
}

// tracingData describes two systems of tracepoints.
func tracingData(order binary.AppendByteOrder) (b []byte) {
	number := func(n int) { b = order.AppendUint32(b, uint32(n)) }
	described := func(text string) { b = append(order.AppendUint64(b, uint64(len(text))), text...) }
	b = append(b, "\x17\x08\x44tracing"+"0.6\x00\x00\x08"...)
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b[len(b)-2] = 1
	}
	number(4096)
	for _, header := range []string{"header_page", "header_event"} {
		b = append(b, header+"\x00"...)
		described("\tfield: u64 timestamp;\n")
	}
	number(1)
	described("name: kernel_stack\nID: 77\nformat:\n") // the tracer's own numbers are others
	number(2)
	for system, text := range map[string]string{"irq": "name: irq_entry\nID: 76\nformat:\n", "sched": "name: sched_switch\nID: 77\nformat:\n"} {
		b = append(b, system+"\x00"...)
		number(1)
		described(text)
	}
	return b
}
