package gprofng_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// reference returns the sections of a reference page by their numbers.
func reference(t *testing.T, page string) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../../docs/formats/" + page)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range regexp.MustCompile(`\n##+ `).Split(string(b), -1)[1:] {
		number, _, _ := strings.Cut(s, " ")
		sections[strings.TrimSuffix(number, ".")] = s
	}
	return sections
}

// first returns the names in the first column of a section's tables.
func first(section string) (names []string) {
	for _, row := range regexp.MustCompile(`(?m)^\| (`+"`"+`[^|]*) \|`).FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	return names
}

// namedContent is one kind of content that a reference names: how to compose it, and what a
// problem says if it is not used.
type namedContent struct {
	name  string
	add   func(e *gprofngtest.Experiment)
	words string
}

func line(format string, args ...any) func(e *gprofngtest.Experiment) {
	return func(e *gprofngtest.Experiment) { e.Log(format, args...) }
}

func mapLine(format string, args ...any) func(e *gprofngtest.Experiment) {
	return func(e *gprofngtest.Experiment) { e.Map(format, args...) }
}

// contents lists what the references name.
func contents(t *testing.T) (list []namedContent) {
	g, s := reference(t, "gprofng-experiment.md"), reference(t, "studio-experiment.md")
	files := append(first(g["1.1"]), "er_archive.log")
	if !strings.Contains(s["5"], "`er_archive.log`") {
		t.Error("the reference of Studio does not name its archiver's log")
	}
	for _, name := range files {
		name = strings.TrimSuffix(name, "/")
		if strings.Contains(name, "*") {
			continue
		}
		list = append(list, namedContent{"file " + name, func(e *gprofngtest.Experiment) {
			if _, err := os.Stat(filepath.Join(e.Dir, name)); err != nil && name != "log.xml" && name != "map.xml" {
				e.WriteFile(name, nil)
			}
		}, "the file " + name + " "})
	}
	for _, name := range first(g["2.3"]) {
		if slices.Contains([]string{"clk", "version"}, name) || strings.Contains(name, "=") {
			continue
		}
		list = append(list, namedContent{"element " + name, line(`<%s some="1"></%s>`, name, name), "element " + name + " "})
	}
	for _, name := range first(g["2.4"]) {
		if name != "id" && !strings.Contains(name, "=") {
			list = append(list, namedContent{"event " + name, line(`<event kind="%s" tstamp="0.5" id="1" vaddr="0x1" tid="1" jenv="1"/>`, name), "of kind " + name + " "})
		}
	}
	for _, name := range first(g["2.6"]) {
		list = append(list, namedContent{"map " + name, mapLine(`<event kind="map" object="%s" tstamp="0.1" vaddr="0x100" size="8" name="x" methodId="1"/>`, name), "of objects " + name + " "})
	}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d[\d, ]*) \|`).FindAllStringSubmatch(g["3.2"], -1) {
		for _, n := range strings.Split(row[1], ",") {
			typ, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, namedContent{fmt.Sprint("packet ", typ), line(`<profile name="profile"><profpckt kind="%d"><field name="TSTAMP" offset="8" type="INT64"/></profpckt></profile>`, typ), fmt.Sprintf("packets of type %d", typ)})
		}
	}
	kinds := strings.Split(strings.NewReplacer(" RACE:", "\n\nRACE:", " DEADLOCK:", "\n\nDEADLOCK:").Replace(g["3.4"]), "\n\n")
	for _, p := range kinds {
		kind, ok := kindOf(p)
		if !ok {
			continue
		}
		for _, name := range regexp.MustCompile(`\b[A-Z][A-Z0-9]*(_[A-Z]+)*\b`).FindAllString(strings.ReplaceAll(p, "\n0 ", "\n\n"), -1) {
			if slices.Contains(noFields, name) || len(name) < 3 {
				continue
			}
			list = append(list, namedContent{"field " + name, func(e *gprofngtest.Experiment) {
				l := gprofngtest.Layout{Type: gprofngtest.Layouts[kind][0].Type, Size: 128, Fields: []gprofngtest.Field{{Name: "LWPID", Offset: 8, Type: "INT64"}, {Name: "TSTAMP", Offset: 16, Type: "INT64"}, {Name: "NOVELTY", Offset: 24, Type: "INT64"}}}
				if !slices.ContainsFunc(l.Fields, func(f gprofngtest.Field) bool { return f.Name == name }) {
					l.Fields = append(l.Fields, gprofngtest.Field{Name: name, Offset: 32, Type: "INT64"})
				}
				e.Declare(kind, "", l)
				e.Events(kind).Put(0, &l, gprofngtest.Packet{Thread: 1, Time: 5})
			}, "field " + name + " "})
		}
	}
	return list
}

// noFields lists words in capitals that occur in the references but are not fields.
var noFields = []string{"HWC", "OMP", "RACE", "DEADLOCK", "NTICK's", "USER", "CPU", "User", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "WAIT_CPU", "STOPPED",
	"LINUX_CPU", "KERNEL_CPU", "MSTATE:", "EVT_TIME", "IOVFD", "THE", "LINUX", "KERNEL", "WAIT"}

// kindOf returns the kind that a paragraph describes; false for none.
func kindOf(paragraph string) (schema.Kind, bool) {
	for start, kind := range map[string]schema.Kind{"Clock (": schema.Clock, "Heap (": schema.Heap, "I/O (": schema.IO, "Sync (": schema.Sync, "HWC (": schema.HWC, "OMP (": schema.OMP, "RACE:": schema.Race, "DEADLOCK:": schema.Deadlock} {
		if strings.HasPrefix(strings.TrimSpace(paragraph), start) {
			return kind, true
		}
	}
	return 0, false
}

// used maps a kind of content to the table or column that shows that it is used.
var used = map[string]string{
	"file log.xml": "everything", "file map.xml": "segments", "file dyntext": "instructions and lines of generated code", "file overview": "sample_points",
	"file data.frameinfo": "stacks", "file profile": "clock_samples", "file synctrace": "sync_samples", "file heaptrace": "heap_samples", "file iotrace": "io_samples",
	"file hwcounters": "hwc_samples", "file omptrace": "omp_samples", "file dataraces": "race_samples", "file deadlocks": "deadlock_samples",
	"file jclasses": "functions of Java", "file archives": "load objects", "file archive.log": "says nothing about the program", "file er_archive.log": "says nothing about the program",
	"file warnings.xml":  "problems",
	"element experiment": "experiments.version", "element collector": "experiments.collector", "element system": "experiments.host", "element cpu": "experiments.cpus", "element powerm": "holds frequency",
	"element frequency": "experiments.clock_mhz", "element process": "processes", "element setting": "its attributes are reported", "element dataptr": "its attributes are reported",
	"element profile": "kinds of data", "element event": "see its kinds",
	"event run": "experiments.started", "event exit": "processes.closed", "event sample": "sample_points.label", "event cwarn": "problems", "event cerror": "problems",
	"event desc_started": "missing descendants", "event exec_start": "processes.closed", "event exec_error": "processes.closed", "event archive_run": "missing archives",
	"event jthread_start": "threads of Java", "event jthread_end": "threads of Java", "event map": "segments", "event unmap": "segments",
	"map segment": "segments", "map dynfunc": "functions", "map function": "functions", "map jcm": "functions of Java",
	"packet 1": "clock_samples", "packet 2": "sync_samples", "packet 3": "hwc_samples", "packet 4": "hwc_samples", "packet 5": "heap_samples", "packet 7": "hwc_samples", "packet 8": "clock_samples",
	"packet 9": "omp_samples", "packet 10": "race_samples", "packet 12": "omp_samples", "packet 13": "deadlock_samples", "packet 14": "omp_samples", "packet 15": "omp_samples", "packet 16": "omp_samples", "packet 19": "io_samples",
	"field LWPID": "thread_id", "field THRID": "thread_id without LWPID", "field CPUID": "cpu", "field TSTAMP": "time_ns", "field FRINFO": "stack",
	"field MSTATE": "state", "field NTICK": "ticks", "field HTYPE": "operation", "field HSIZE": "bytes", "field HVADDR": "address", "field HOVADDR": "old_address",
	"field IOTYPE": "operation", "field IOFD": "fd", "field IONBYTE": "bytes", "field IORQST": "request_ns", "field IOOFD": "old_fd", "field IOFSTYPE": "file_system", "field IOFNAME": "file",
	"field SRQST": "request_ns", "field SOBJ": "object", "field HWCTAG": "counter", "field HWCINT": "value", "field VADDR": "data_address", "field PADDR": "physical_address", "field VIRTPC": "trigger_pc",
	"field MEM_LAT": "latency", "field MEM_SRC": "data_source", "field CPRID": "region", "field PPRID": "parent region", "field TSKID": "task", "field PTSKID": "parent task", "field PRPC": "pc",
	"field RID": "race", "field RTYPE": "type", "field LEAFPC": "stack", "field RVADDR": "address", "field RCNT": "accesses", "field DID": "deadlock", "field DLTYPE": "type", "field DTYPE": "type", "field DVADDR": "address",
	// Packets of data.frameinfo.
	"packet 11": "stacks", "packet 17": "stacks",
}

// Everything that the format references name is used, or reported as not used: a problem must
// report each kind of content that is not in used.
func TestUsedOrReported(t *testing.T) {
	list := contents(t)
	if len(list) < 90 {
		t.Errorf("only %d kinds of content are named", len(list))
	}
	for _, c := range list {
		e := newExperiment(t)
		e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
		c.add(e)
		rec := build(t, e)
		reported := slices.ContainsFunc(rec.Problems.Problems, func(p diagnostic.Problem) bool {
			return (strings.HasPrefix(p.Reason, "unused-") || strings.HasPrefix(p.Reason, "unknown-") || p.Reason == "undescribed-packets") && strings.Contains(p.Message+" ", c.words)
		})
		if used[c.name] == "" != reported {
			t.Errorf("%s: reported %v, but used for %q\n%v", c.name, reported, used[c.name], rec.Problems.Problems)
		}
	}
	for name := range used {
		if !slices.ContainsFunc(list, func(c namedContent) bool { return c.name == name }) {
			t.Errorf("the references do not name %s", name)
		}
	}
}

// A kind of content is reported once, with its count over all processes.
func TestUnusedIsCounted(t *testing.T) {
	e := newExperiment(t)
	for _, p := range []*gprofngtest.Experiment{e, e.Descendant("_f1", 5)} {
		p.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
		p.Log(`<event kind="pause" tstamp="0.1"/>`)
		p.Log(`<event kind="pause" tstamp="0.2"/>`)
		p.Log(`<setting linetrace="on"/>`)
		p.Declare(schema.HWC, "", gprofngtest.Layouts[schema.HWC][1])
		for i := range int64(3) {
			p.Events(schema.HWC).Put(0, &gprofngtest.Layouts[schema.HWC][1], gprofngtest.Packet{Thread: 1, Time: i, Stack: p.Frame(0x1010)})
		}
		p.WriteFile("notes", []byte("text"))
	}
	got := map[string]int64{}
	for _, p := range build(t, e).Problems.Problems {
		if strings.HasPrefix(p.Reason, "unused-") && p.Reason != "unused-attribute" {
			got[p.Reason+" "+p.File] += p.Count
		}
		if p.Reason == "unused-attribute" && p.File == "log.xml" && !strings.Contains(p.Message, "setting linetrace") {
			t.Error(p)
		}
	}
	for what, want := range map[string]int64{"unused-event log.xml": 4, "unused-field hwcounters": 6, "unused-file notes": 2} {
		if got[what] != want {
			t.Errorf("%s: %d, want %d (%v)", what, got[what], want, got)
		}
	}
}
