package cfi

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// system finds a library of this machine.
func system(t *testing.T, name string) string {
	for _, dir := range []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib/gcc/*/*"} {
		if found, _ := filepath.Glob(filepath.Join(dir, name)); len(found) > 0 {
			return found[0]
		}
	}
	t.Skip("no ", name)
	return ""
}

// input returns the Input that a file contains.
func input(t testing.TB, path string) Input {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := Input{Arch: isa.AMD64, Order: f.ByteOrder}
	if f.Machine == elf.EM_AARCH64 {
		in.Arch = isa.ARM64
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			in.Segments = append(in.Segments, Segment{p.Off, p.Vaddr, p.Filesz})
		}
	}
	for _, s := range f.Sections {
		switch s.Name {
		case ".eh_frame":
			in.EHFrame.Address = s.Addr
			in.EHFrame.Bytes, _ = s.Data()
		case ".debug_frame":
			in.Debug.Bytes, _ = s.Data()
		}
	}
	return in
}

// interpreted is a function as readelf prints it: by start address, the CFA and the rules by
// column.
type interpreted struct {
	start, end uint64
	rows       []interpretedRow
}

type interpretedRow struct {
	at      uint64
	columns map[string]string
}

var (
	readelfFDE      = regexp.MustCompile(`FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	readelfRegister = regexp.MustCompile(`r\d+ \((\w+)\)`)
	readelfRow      = regexp.MustCompile(`^[0-9a-f]{16}\s`)
)

func readelf(t *testing.T, path string) (list []interpreted) {
	t.Helper()
	cmd := exec.Command("readelf", "--debug-dump=frames-interp", path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	var columns []string
	current := false // inside a function
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		text := lines.Text()
		switch m := readelfFDE.FindStringSubmatch(text); {
		case m != nil:
			start, _ := strconv.ParseUint(m[1], 16, 64)
			end, _ := strconv.ParseUint(m[2], 16, 64)
			list, current = append(list, interpreted{start: start, end: end}), true
		case strings.Contains(text, " CIE "):
			current = false
		case strings.Contains(text, "LOC "):
			columns = strings.Fields(text)[1:]
		case current && readelfRow.MatchString(text):
			fields := strings.Fields(readelfRegister.ReplaceAllString(text, "$1"))
			at, _ := strconv.ParseUint(fields[0], 16, 64)
			row := interpretedRow{at, map[string]string{}}
			for i, c := range columns {
				row.columns[c] = fields[i+1]
			}
			last := &list[len(list)-1]
			if n := len(last.rows); n > 0 && last.rows[n-1].at == at {
				last.rows = last.rows[:n-1]
			}
			last.rows = append(last.rows, row)
		}
	}
	slices.SortStableFunc(list, func(a, b interpreted) int { return int(int64(a.start - b.start)) })
	return list
}

// differs returns how a row differs from readelf's.
func (t *Table) differs(offset uint64, want map[string]string) string {
	n := t.find(offset)
	if n == 0 {
		return "no row"
	}
	r := t.distinct[n]
	got := map[string]string{"CFA": t.text(r.cfa)}
	if r.cfa.kind == isExpression {
		got["CFA"] = "exp"
	}
	for _, f := range t.rules[r.first : r.first+uint32(r.count)] {
		got[t.names()[f.register]] = t.text(f.rule)
	}
	for column, w := range want {
		g := got[column]
		if g == "" && (w == "u" || w == "s") && column != "ra" { // no rule, or the same as none
			continue
		}
		if g != w {
			return fmt.Sprintf("%s is %q, readelf has %q", column, g, w)
		}
	}
	for column := range got {
		if _, ok := want[column]; !ok {
			return column + " has a rule"
		}
	}
	return ""
}

// Rows of system libraries equal what readelf interprets, for each function from its first to its
// last address.
func TestReadelf(t *testing.T) {
	for _, name := range []string{"libc.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6"} {
		t.Run(name, func(t *testing.T) {
			path := system(t, name)
			if _, err := os.Stat(path); err != nil {
				t.Skip(err)
			}
			in := input(t, path)
			table := Read(in)
			if table.Bad != 0 {
				t.Errorf("%d bad entries", table.Bad)
			}
			list, wrong, checked := readelf(t, path), 0, 0
			for i, f := range list {
				end := f.end
				if i+1 < len(list) {
					end = min(end, list[i+1].start)
				}
				for j, row := range f.rows {
					until := end
					if j+1 < len(f.rows) {
						until = min(until, f.rows[j+1].at)
					}
					for _, at := range []uint64{row.at, until - 1} {
						if row.at >= until || wrong > 20 {
							continue
						}
						checked++
						if why := table.differs(fileOffset(in.Segments, at), row.columns); why != "" {
							wrong++
							t.Errorf("%#x in %#x..%#x: %s", at, f.start, f.end, why)
						}
					}
				}
			}
			if checked < 100 {
				t.Errorf("only %d addresses checked", checked)
			}
			t.Logf("%d functions, %d addresses, %d rows of %d kinds, %d bytes", len(list), checked, table.Rows(), len(table.distinct), table.Bytes())
		})
	}
}

func fileOffset(segments []Segment, address uint64) uint64 {
	for _, s := range segments {
		if address-s.Address < s.Size {
			return address - s.Address + s.Offset
		}
	}
	return ^uint64(0)
}
