package tracepoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// described returns TRACING_DATA with formats of the system `test`.
func described(order binary.AppendByteOrder, formats ...string) (b []byte) {
	number := func(n int) { b = order.AppendUint32(b, uint32(n)) }
	text := func(s string) { b = append(order.AppendUint64(b, uint64(len(s))), s...) }
	b = append(b, magic+"0.6\x00\x00\x08"...)
	if isBig(order) {
		b[len(b)-2] = 1
	}
	number(4096)
	for _, header := range []string{"header_page", "header_event"} {
		b = append(b, header+"\x00"...)
		text("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n")
	}
	number(1)
	text("name: kernel_stack\nID: 7\nformat:\n") // ftrace's own records have other ids
	number(1)
	b = append(b, "test\x00"...)
	number(len(formats))
	for _, f := range formats {
		text(f)
	}
	number(0) // symbols of the kernel
	number(0) // formats of printk
	return order.AppendUint64(b, 0)
}

func isBig(order binary.AppendByteOrder) bool {
	return order == binary.AppendByteOrder(binary.BigEndian)
}

// fieldOf parses a line of a format for a machine with 64-bit longs.
func fieldOf(t *testing.T, line string) Field {
	t.Helper()
	f, ok := parse("name: event\nID: 7\nformat:\n\t"+line+"\n", 8)
	if !ok || len(f.Fields) != 1 {
		t.Fatalf("%s: %d fields", line, len(f.Fields))
	}
	return f.Fields[0]
}

// value returns the value of a field as the columns number and text show it; empty if the sample
// ends before the field does.
func value(f *Field, raw []byte, big bool) string {
	if n, ok := f.Number(raw, big); ok {
		return fmt.Sprint(n)
	}
	text, ok := f.AppendText(nil, raw, big)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%q", text)
}

// A declaration shows the name and the type of a field and the size of its elements, even if the
// dimension of an array is a macro.
func TestFields(t *testing.T) {
	for _, tt := range []struct {
		line string
		want Field
	}{
		{"field:char comm[16];\toffset:8;\tsize:16;\tsigned:0;",
			Field{Name: "comm", Type: "char[16]", Offset: 8, Size: 16, Elements: 16, ElementSize: 1, Text: true}},
		{"field:char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:1;",
			Field{Name: "comm", Type: "char[TASK_COMM_LEN]", Offset: 8, Size: 16, Signed: true, Elements: 16, ElementSize: 1, Text: true}},
		{"field:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;",
			Field{Name: "comm", Type: "__data_loc char[]", Offset: 8, Size: 4, ElementSize: 1, Location: Dynamic, Text: true}},
		{"field:__rel_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;",
			Field{Name: "comm", Type: "__rel_loc char[]", Offset: 8, Size: 4, ElementSize: 1, Location: Relative, Text: true}},
		{"field:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;",
			Field{Name: "args", Type: "unsigned long[6]", Offset: 16, Size: 48, Elements: 6, ElementSize: 8}},
		{"field:unsigned long args[MAX_ARGS];\toffset:16;\tsize:48;\tsigned:0;",
			Field{Name: "args", Type: "unsigned long[MAX_ARGS]", Offset: 16, Size: 48, Elements: 6, ElementSize: 8}},
		{"field:u8 mac[6];\toffset:16;\tsize:6;\tsigned:0;",
			Field{Name: "mac", Type: "u8[6]", Offset: 16, Size: 6, Elements: 6, ElementSize: 1}},
		{"field:const char * list[N];\toffset:16;\tsize:16;\tsigned:0;",
			Field{Name: "list", Type: "const char *[N]", Offset: 16, Size: 16, Elements: 2, ElementSize: 8}},
		{"field:__data_loc cpumask_t[] mask;\toffset:8;\tsize:4;\tsigned:0;",
			Field{Name: "mask", Type: "__data_loc cpumask_t[]", Offset: 8, Size: 4, ElementSize: 1, Location: Dynamic}},
		{"field:__data_loc u64[] list;\toffset:8;\tsize:4;\tsigned:0;",
			Field{Name: "list", Type: "__data_loc u64[]", Offset: 8, Size: 4, ElementSize: 8, Location: Dynamic}},
		{"field:__data_loc unsigned long long[] list;\toffset:8;\tsize:4;\tsigned:0;",
			Field{Name: "list", Type: "__data_loc unsigned long long[]", Offset: 8, Size: 4, ElementSize: 8, Location: Dynamic}},
		{"field:s64 amount;\toffset:20;\tsize:8;\tsigned:1;",
			Field{Name: "amount", Type: "s64", Offset: 20, Size: 8, Signed: true, Elements: 1, ElementSize: 8}},
		{"field:int dfd;\toffset:16;\tsize:8;\tsigned:0;",
			Field{Name: "dfd", Type: "int", Offset: 16, Size: 8, Elements: 1, ElementSize: 8}},
		{"field:const char * filename;\toffset:24;\tsize:8;\tsigned:0;",
			Field{Name: "filename", Type: "const char *", Offset: 24, Size: 8, Elements: 1, ElementSize: 8}},
		{"field:const void *call_site;\toffset:24;\tsize:8;\tsigned:0;", // the star is part of the name
			Field{Name: "call_site", Type: "const void *", Offset: 24, Size: 8, Elements: 1, ElementSize: 8}},
		{"field:u8 flag;\toffset:4;\tsize:1;", // formats before 2.6.32 do not say whether numbers are signed
			Field{Name: "flag", Type: "u8", Offset: 4, Size: 1, Elements: 1, ElementSize: 1}},
		{"field special:char tail[0];\toffset:8;\tsize:0;\tsigned:0;",
			Field{Name: "tail", Type: "char[0]", Offset: 8, Elements: 0, ElementSize: 1, Text: true}},
	} {
		tt.want.Common = true // no blank line precedes it
		if diff := cmp.Diff(tt.want, fieldOf(t, tt.line)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.line, diff)
		}
	}
}

// Lines without a name, a type, an offset or a possible size are not fields, and do not affect
// other lines.
func TestNoFields(t *testing.T) {
	for _, line := range []string{
		"field:", "field:;", "field:int;\toffset:0;\tsize:4;", "field:int x;", "field:int x;\toffset:0;", "field:int x;\tsize:4;",
		"field:int x;\toffset:-1;\tsize:4;", "field:int x;\toffset:0;\tsize:-4;", "field:int x;\toffset:0;\tsize:65537;",
		"field:int x;\toffset:9223372036854775807;\tsize:4;", "field:int x;\toffset:99999999999999999999;\tsize:4;",
		"field:__data_loc char[] x;\toffset:0;\tsize:8;", "field:__data_loc [] x;\toffset:0;\tsize:4;", "field:__rel_loc [] x;\toffset:0;\tsize:4;",
		"field:[] x;\toffset:0;\tsize:4;", "field: [] x[3];\toffset:0;\tsize:4;", "field:[3];\toffset:0;\tsize:4;", "field:];\toffset:0;\tsize:4;",
		"field:*;\toffset:0;\tsize:4;", "field:x;\toffset:0;\tsize:4;",
	} {
		f, ok := parse("name: event\nID: 7\nformat:\n\t"+line+"\n\tfield:int y;\toffset:4;\tsize:4;\tsigned:1;\n", 8)
		if !ok || len(f.Fields) != 1 || f.Fields[0].Name != "y" {
			t.Errorf("%q: %+v", line, f)
		}
	}
}

// The value of a field follows from its format, in both byte orders, not from its C type.
func TestValues(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		big := isBig(order)
		u16, u32, u64 := order.AppendUint16, order.AppendUint32, order.AppendUint64
		at := func(off int, b []byte) []byte { return append(make([]byte, off), b...) }
		// location returns a sample with a __data_loc or __rel_loc at offset 8, followed by 4 bytes
		// and the content.
		location := func(length, offset int, content []byte) []byte {
			return append(u32(u32(make([]byte, 8), uint32(length<<16|offset)), 0xdeadbeef), content...)
		}
		negative := func(n int64) uint64 { return uint64(n) }
		for _, tt := range []struct {
			name, line string
			raw        []byte
			want       string
		}{
			{"a byte", "field:u8 f; offset:3; size:1; signed:0;", at(3, []byte{0xff}), "255"},
			{"a signed byte", "field:s8 f; offset:3; size:1; signed:1;", at(3, []byte{0xff}), "-1"},
			{"2 bytes", "field:unsigned short f; offset:3; size:2; signed:0;", at(3, u16(nil, 0xfffe)), "65534"},
			{"2 signed bytes", "field:short f; offset:3; size:2; signed:1;", at(3, u16(nil, 0xfffe)), "-2"},
			{"4 bytes without alignment", "field:u32 f; offset:33; size:4; signed:0;", at(33, u32(nil, 0xffffffd8)), "4294967256"},
			{"4 signed bytes", "field:pid_t f; offset:8; size:4; signed:1;", at(8, u32(nil, 0xffffffd8)), "-40"},
			{"8 bytes without alignment", "field:s64 f; offset:20; size:8; signed:1;", at(20, u64(nil, negative(-160))), "-160"},
			{"an int of 8 bytes", "field:int f; offset:16; size:8; signed:0;", at(16, u64(nil, 4294967196)), "4294967196"},
			{"a pointer", "field:void * f; offset:8; size:8; signed:0;", at(8, u64(nil, 0xffff888012345678)), fmt.Sprint(int64(-0x777fedcba988))},
			{"an odd size", "field:struct odd f; offset:8; size:3; signed:0;", at(8, []byte{1, 2, 3}), `"010203"`},
			{"a comm", "field:char f[16]; offset:8; size:16; signed:0;", at(8, []byte("bank\x00garbage\x00\x00\x00\x00")), `"bank"`},
			{"a comm without NUL", "field:char f[16]; offset:8; size:16; signed:0;", at(8, []byte("0123456789abcdef")), `"0123456789abcdef"`},
			{"an empty comm", "field:char f[16]; offset:8; size:16; signed:0;", make([]byte, 24), `""`},
			{"a comm of other bytes", "field:char f[4]; offset:8; size:4; signed:0;", at(8, []byte{'a', 0xff, 0xfe, 'b'}), fmt.Sprintf("%q", "a\uFFFDb")},
			{"characters of 8 bytes in all", "field:char f[8]; offset:0; size:8; signed:0;", []byte("rwbs\x00\x00\x00\x00"), `"rwbs"`},
			{"arguments", "field:unsigned long f[6]; offset:8; size:48; signed:0;",
				at(8, u64(u64(u64(u64(u64(u64(nil, 1), 0), negative(-100)), 4), 5), 6)), `"0x1,0x0,0xffffffffffffff9c,0x4,0x5,0x6"`},
			{"an array with one element", "field:unsigned long f[1]; offset:8; size:8; signed:0;", at(8, u64(nil, 7)), `"0x7"`},
			{"an array of 2 bytes each", "field:u16 f[N]; offset:8; size:4; signed:0;", at(8, u16(u16(nil, 1), 0xabcd)), `"0x1,0xabcd"`},
			{"bytes", "field:u8 f[4]; offset:8; size:4; signed:0;", at(8, []byte{0xde, 0xad, 0xbe, 0xef}), `"deadbeef"`},
			{"dynamic characters", "field:__data_loc char[] f; offset:8; size:4; signed:1;", location(6, 16, []byte("wages\x00\x00\x00")), `"wages"`},
			{"dynamic characters without NUL", "field:__data_loc char[] f; offset:8; size:4; signed:1;", location(5, 16, []byte("wages\x00\x00\x00")), `"wages"`},
			{"no dynamic characters", "field:__data_loc char[] f; offset:8; size:4; signed:1;", location(0, 16, nil), `""`},
			{"a dynamic mask of bytes", "field:__data_loc cpumask_t[] f; offset:8; size:4; signed:0;", location(8, 16, []byte{3, 0, 0, 0, 0, 0, 0, 0x80}), `"0300000000000080"`},
			{"a dynamic mask of words", "field:__data_loc u64[] f; offset:8; size:4; signed:0;", location(16, 16, u64(u64(nil, 3), 1<<63)), `"0x3,0x8000000000000000"`},
			{"dynamic words with a rest", "field:__data_loc u64[] f; offset:8; size:4; signed:0;", location(12, 16, append(u64(nil, 3), 1, 2, 3, 4)), `"0x3"`},
			{"relative characters", "field:__rel_loc char[] f; offset:8; size:4; signed:0;", location(6, 4, []byte("wages\x00")), `"wages"`},
			{"a relative mask", "field:__rel_loc unsigned int[] f; offset:8; size:4; signed:0;", location(8, 4, u32(u32(nil, 1), 2)), `"0x1,0x2"`},
			{"a number behind the end", "field:int f; offset:8; size:4; signed:1;", make([]byte, 11), ""},
			{"a comm behind the end", "field:char f[16]; offset:8; size:16; signed:0;", make([]byte, 23), ""},
			{"a location behind the end", "field:__data_loc char[] f; offset:8; size:4; signed:0;", make([]byte, 11), ""},
			{"dynamic content behind the end", "field:__data_loc char[] f; offset:8; size:4; signed:0;", location(7, 16, []byte("wages\x00")), ""},
			{"a dynamic offset behind the end", "field:__data_loc char[] f; offset:8; size:4; signed:0;", location(0, 17, nil), ""},
			{"the highest dynamic offset", "field:__data_loc char[] f; offset:8; size:4; signed:0;", location(0xffff, 0xffff, nil), ""},
			{"relative content behind the end", "field:__rel_loc char[] f; offset:8; size:4; signed:0;", location(7, 4, []byte("wages\x00")), ""},
			{"nothing", "field:int f; offset:0; size:4; signed:1;", nil, ""},
		} {
			f := fieldOf(t, tt.line)
			if got := value(&f, tt.raw, big); got != tt.want {
				t.Errorf("%s, big endian %t: %s, want %s", tt.name, big, got, tt.want)
			}
		}
	}
}

// Fields of one name are told apart by numbers.
func TestRepeatedNames(t *testing.T) {
	text := "name: e\nID: 1\nformat:\n"
	for i, name := range []string{"a", "a_2", "a", "a", "A"} {
		text += fmt.Sprintf("\tfield:int %s;\toffset:%d;\tsize:4;\tsigned:1;\n", name, 4*i)
	}
	f, _ := parse(text, 8)
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Name)
	}
	if diff := cmp.Diff([]string{"a", "a_2", "a_2_2", "a_3", "A"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// AppendText appends a text; it appends nothing if the sample ends before the text does.
func TestAppendText(t *testing.T) {
	f := fieldOf(t, "field:char f[4]; offset:0; size:4; signed:0;")
	if got, ok := f.AppendText([]byte("a "), []byte("bank"), false); string(got) != "a bank" || !ok {
		t.Errorf("%q, %t", got, ok)
	}
	if got, ok := f.AppendText([]byte("a "), []byte("ban"), false); string(got) != "a " || ok {
		t.Errorf("%q, %t", got, ok)
	}
}

// Formats are found by their ids, with the byte order of the recorded machine. Formats without a
// name or an id, and those of ftrace's own records, are left out.
func TestRead(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := described(order,
			"name: first\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"+
				"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"pid=%d: %s\", REC->pid\n",
			"name: second\nID: 8\nformat:\n", "name: unnumbered\nID: x\n", "ID: 9\n", "")
		formats, err := Read(b)
		if err != nil || formats.Big != isBig(order) {
			t.Fatal(err, formats.Big)
		}
		got := map[uint64]string{}
		formats.All(func(f *Format) { got[f.ID] = f.String() })
		if want := map[uint64]string{7: "test:first", 8: "test:second"}; !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		f := formats.Of(7)
		if f.Print != `"pid=%d: %s", REC->pid` || len(f.Fields) != 2 || !f.Fields[0].Common || f.Fields[1].Common {
			t.Errorf("%+v", f)
		}
		if f.Field("pid") != 1 || f.Field("tid") != -1 || formats.Of(9) != nil || (*Formats)(nil).Of(7) != nil {
			t.Error("fields or formats are not found")
		}
	}
	(*Formats)(nil).All(func(*Format) { t.Error("there are no formats") })
	if _, err := Read([]byte("\x17\x08\x44traces")); err != ErrUnknown {
		t.Error(err)
	}
}

// recorded returns the TRACING_DATA of a recording in testdata/wall. perf writes it as the first
// feature; the feature's offset and size follow the records.
func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	file, err := os.ReadFile("../../../testdata/wall/" + name + ".data")
	if err != nil {
		tb.Fatal(err)
	}
	word := func(at uint64) uint64 { return binary.LittleEndian.Uint64(file[at:]) }
	features := word(40) + word(48) // where the records end
	b := file[word(features):][:word(features+8)]
	if !bytes.HasPrefix(b, []byte(magic)) {
		tb.Fatal("the first feature is not TRACING_DATA")
	}
	return b
}

// TRACING_DATA that perf recorded is read to its end, and the fields have the kernel's offsets.
func TestRecorded(t *testing.T) {
	for name, want := range map[string][]string{
		"bank_probe": {
			"probe_bank:deposit 2326: common_type 0+2, common_flags 2+1, common_preempt_count 3+1, common_pid 4+4, __probe_ip 8+8, number 16+4, amount 20+8, note 28+4, flag 32+1, hex 33+4",
			"probe_bank:deposit__return 2327: common_type 0+2, common_flags 2+1, common_preempt_count 3+1, common_pid 4+4, __probe_func 8+8, __probe_ret_ip 16+8, balance 24+8",
		},
		"naps_all": {
			"sched:sched_switch 372: common_type 0+2, common_flags 2+1, common_preempt_count 3+1, common_pid 4+4, prev_comm 8+16, prev_pid 24+4, prev_prio 28+4, prev_state 32+8, next_comm 40+16, next_pid 56+4, next_prio 60+4",
			"sched:sched_wakeup_new 373: common_type 0+2, common_flags 2+1, common_preempt_count 3+1, common_pid 4+4, comm 8+16, pid 24+4, prio 28+4, target_cpu 32+4",
			"sched:sched_wakeup 374: common_type 0+2, common_flags 2+1, common_preempt_count 3+1, common_pid 4+4, comm 8+16, pid 24+4, prio 28+4, target_cpu 32+4",
			"sched:sched_waking 375: common_type 0+2, common_flags 2+1, common_preempt_count 3+1, common_pid 4+4, comm 8+16, pid 24+4, prio 28+4, target_cpu 32+4",
		},
	} {
		formats, err := Read(recorded(t, name))
		if err != nil || formats.Big {
			t.Error(name, err, formats.Big)
		}
		var got []string
		formats.All(func(f *Format) {
			var fields []string
			for _, field := range f.Fields {
				fields = append(fields, fmt.Sprintf("%s %d+%d", field.Name, field.Offset, field.Size))
			}
			got = append(got, fmt.Sprintf("%s %d: %s", f, f.ID, strings.Join(fields, ", ")))
			if f.Print == "" {
				t.Error(f, "is not printed")
			}
		})
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// checkAny reads any bytes as TRACING_DATA, and the fields of its formats from any sample. Neither
// may panic, and values must lie inside the sample.
func checkAny(t *testing.T, b, raw []byte) {
	formats, err := Read(b)
	if formats == nil {
		t.Fatal("no formats", err)
	}
	formats.All(func(f *Format) {
		if formats.Of(f.ID) != f {
			t.Error(f, "is not found by its id")
		}
		for i := range f.Fields {
			field := &f.Fields[i]
			if field.Name == "" || field.Type == "" || field.Offset < 0 || field.Size < 0 || field.Elements < 0 || field.ElementSize < 0 {
				t.Errorf("%s: %+v", f, field)
			}
			_, isNumber := field.Number(raw, formats.Big)
			text, isText := field.AppendText(nil, raw, formats.Big)
			if isNumber && !field.IsNumber() || (isNumber || isText) && field.Offset+field.Size > len(raw) || !isText && len(text) > 0 {
				t.Errorf("%s: %+v of %d bytes: %t, %t %q", f, field, len(raw), isNumber, isText, text)
			}
		}
	})
}

// If descriptions are cut, Read returns the formats before the cut and an error. After the last
// format there is no error, since nothing more is read.
func TestCut(t *testing.T) {
	whole := recorded(t, "bank_probe")
	formats := 0
	for n := range len(whole) {
		checkAny(t, whole[:n], make([]byte, 37))
		f, err := Read(whole[:n])
		if len(f.byID) < formats {
			t.Fatalf("%d bytes have %d formats, fewer bytes %d", n, len(f.byID), formats)
		}
		if formats = len(f.byID); (err == nil) != (formats == 2) {
			t.Fatalf("%d bytes have %d formats: %v", n, formats, err)
		}
	}
	if formats != 2 {
		t.Error(formats, "formats")
	}
}

// Damaged descriptions are read without delay.
func TestMutants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Now()
	for _, name := range []string{"bank_probe", "naps_all"} {
		whole := recorded(t, name)
		for range 2000 {
			b := slices.Clone(whole)
			for range 1 + random.IntN(8) {
				switch at := random.IntN(len(b)); random.IntN(4) {
				case 0:
					b[at] = byte(random.Uint32())
				case 1:
					b[at] ^= 1 << random.IntN(8)
				case 2: // replace a character by one that descriptions contain
					b[at] = " *[];:\n\t\x000"[random.IntN(10)]
				default:
					b = slices.Delete(b, at, min(at+1+random.IntN(8), len(b)))
				}
			}
			raw := make([]byte, random.IntN(100))
			for i := range raw {
				raw[i] = byte(random.Uint32())
			}
			checkAny(t, b, raw)
		}
	}
	if took := time.Since(begin); took > time.Minute {
		t.Error("it took", took)
	}
}

// Counts that are larger than the data do not make the reader slow.
func TestHugeCounts(t *testing.T) {
	b := described(binary.LittleEndian, "name: first\nID: 7\nformat:\n")
	for at := len(magic); at+4 <= len(b); at++ {
		huge := slices.Clone(b)
		binary.LittleEndian.PutUint32(huge[at:], 0xffffffff)
		checkAny(t, huge, nil)
	}
}

// Whatever bytes describe tracepoints and make samples, reading them ends without a panic.
func FuzzRead(f *testing.F) {
	raw := make([]byte, 64)
	for i := range raw {
		raw[i] = byte(i)
	}
	f.Add(recorded(f, "bank_probe"), raw)
	f.Add(recorded(f, "naps_all"), raw)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		f.Add(described(order, "name: a\nID: 7\nformat:\n\tfield:__rel_loc u64[] f;\toffset:8;\tsize:4;\tsigned:0;\n\n"+
			"\tfield:char comm[TASK_COMM_LEN];\toffset:12;\tsize:16;\tsigned:0;\n\tfield:__data_loc [] g;\toffset:0;\tsize:4;\tsigned:0;\n"), raw)
	}
	f.Add([]byte(magic), []byte{})
	f.Fuzz(checkAny)
}

// Descriptions of which fields are missing, or whose ids are not theirs alone, are counted.
func TestDamaged(t *testing.T) {
	const pid = "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	format := func(name string, id int, fields string) string {
		return fmt.Sprintf("name: %s\nID: %d\nformat:\n%s\nprint fmt: \"\"\n", name, id, fields)
	}
	many := ""
	for i := range mostFields + 1 {
		many += fmt.Sprintf("\tfield:u8 f%d;\toffset:%d;\tsize:1;\tsigned:0;\n", i, i)
	}
	for _, c := range []struct {
		what    string
		formats []string
		damaged []string
		fields  map[uint64]int // by id
	}{
		{"none", []string{format("a", 1, pid), format("b", 2, pid)}, nil, map[uint64]int{1: 1, 2: 1}},
		{"the same twice", []string{format("a", 1, pid), format("a", 1, pid)}, nil, map[uint64]int{1: 1}},
		{"one id", []string{format("a", 1, pid), format("b", 1, pid), format("c", 1, pid)}, []string{"test:b", "test:c"}, nil},
		{"overlap", []string{format("a", 1, pid+"\tfield:int x;\toffset:10;\tsize:4;\tsigned:1;\n")}, []string{"test:a"}, map[uint64]int{1: 1}},
		{"size", []string{format("a", 1, pid+"\tfield:int x;\toffset:12;\tsize:4294967296;\tsigned:1;\n")}, []string{"test:a"}, map[uint64]int{1: 1}},
		{"empty array at the end", []string{format("a", 1, pid+"\tfield:char x[];\toffset:12;\tsize:0;\tsigned:0;\n")}, nil, map[uint64]int{1: 2}},
		{"many fields", []string{format("a", 1, many)}, []string{"test:a"}, map[uint64]int{1: mostFields}},
		{"no id", []string{"name: a\nformat:\n" + pid}, []string{"test:a"}, nil},
	} {
		f, err := Read(described(binary.LittleEndian, c.formats...))
		got := map[uint64]int{}
		f.All(func(f *Format) { got[f.ID] = len(f.Fields) })
		if err != nil || f.Damages != len(c.damaged) || !slices.Equal(f.Damaged, c.damaged) || !maps.Equal(got, c.fields) {
			t.Errorf("%s: %d damaged, %v, %v, %v", c.what, f.Damages, f.Damaged, got, err)
		}
	}
}
