package perfdata

import (
	"testing"

	"stackmill/stages/decode"
)

func TestTrigger(t *testing.T) {
	const precise1, precise2 = 1 << preciseShift, 2 << preciseShift
	units := map[uint32]string{6: "uprobe", 8: "ibs_op", 9: "cpu_core"}
	for _, tt := range []struct {
		name  string
		event event
		arch  string
		want  decode.Trigger
	}{
		{"page faults", event{attr: attr{typ: typeSoftware, config: pageFaults, sampleType: sampleAddr}}, "x86_64", decode.TriggerExact},
		{"alignment faults", event{attr: attr{typ: typeSoftware, config: alignmentFaults, sampleType: sampleAddr}}, "x86_64", decode.TriggerExact},
		{"page faults without addresses", event{attr: attr{typ: typeSoftware, config: pageFaults}}, "x86_64", decode.NoTrigger},
		{"a clock", event{attr: attr{typ: typeSoftware, sampleType: sampleAddr}}, "x86_64", decode.NoTrigger},
		{"context switches", event{attr: attr{typ: typeSoftware, config: 3, sampleType: sampleAddr}}, "x86_64", decode.NoTrigger},
		{"a tracepoint", event{attr: attr{typ: typeTracepoint, sampleType: sampleAddr}}, "x86_64", decode.NoTrigger},
		{"a watchpoint of x86", event{attr: attr{typ: typeBreakpoint, sampleType: sampleAddr}}, "x86_64", decode.TriggerBehind},
		{"a watchpoint of arm64", event{attr: attr{typ: typeBreakpoint, sampleType: sampleAddr}}, "aarch64", decode.TriggerExact},
		{"cycles", event{attr: attr{sampleType: sampleAddr}}, "x86_64", decode.TriggerSkid},
		{"cycles:p", event{attr: attr{sampleType: sampleAddr, flags: precise1}}, "x86_64", decode.TriggerBehind},
		{"cycles:p, samples that are not exact", event{attr: attr{sampleType: sampleAddr, flags: precise1}, exact: true}, "x86_64", decode.TriggerSkid},
		{"loads:pp, samples that are not exact", event{attr: attr{typ: 4, sampleType: sampleAddr, flags: precise2}, exact: true}, "x86_64", decode.TriggerSkid},
		{"loads:pp", event{attr: attr{typ: 4, sampleType: sampleAddr, flags: precise2}}, "x86_64", decode.TriggerExact},
		{"a unit's loads:P", event{attr: attr{typ: 9, sampleType: sampleAddr, flags: precise1 | precise2}}, "x86_64", decode.TriggerExact},
		{"IBS", event{attr: attr{typ: 8, sampleType: sampleAddr}}, "x86_64", decode.TriggerExact},
		{"a probe", event{attr: attr{typ: 6, sampleType: sampleAddr}}, "x86_64", decode.NoTrigger},
		{"SPE", event{attr: attr{sampleType: sampleAddr | sampleWeight}}, "aarch64", decode.TriggerExact},
		{"cycles of arm64", event{attr: attr{sampleType: sampleAddr}}, "aarch64", decode.TriggerSkid},
	} {
		r := &reader{recordParser: recordParser{rec: &decode.Recording{Arch: tt.arch}, units: units}}
		if got := r.trigger(&tt.event); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	flags := uint64(1) << (63 - preciseShift - 1) // 1, as a big-endian producer writes it
	if a := (attr{flags: mirrored(flags)}); a.precise(true) != 1 {
		t.Errorf("big-endian: %d", a.precise(true))
	}
}
