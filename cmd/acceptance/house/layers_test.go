package house

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// house lists all packages in layers, from the bottom up. A package may import only packages of
// lower layers, so there are no import cycles between folders. Packages of one layer do not import
// each other. `folder/...` is the folder with all folders below it, whose packages may
// import each other.
var house = []struct{ folders, holds string }{
	{"internal/ordered internal/hosterr internal/lazyregexp internal/cachekey internal/tempdir internal/cachetag internal/chunked internal/corpus internal/testfiles internal/objstore/objstoretest internal/terminal internal/exit internal/atomicfile internal/hugepages internal/crash internal/unixsocket internal/memo", "what knows no profile: parallel work in order; errors of the machine; regular expressions; keys of caches; temporary folders; marks of caches; long lists; the recordings, files and S3 server of tests; text for terminals; exit statuses; whole files; huge pages; panics; Unix sockets; results kept in maps"},
	{"internal/safefile internal/bytereader internal/spill internal/prefixtree internal/objstore", "opening files that are not ours, reading their bytes; files of what does not fit in memory; prefix trees; objects of S3-compatible storage"},
	{"schema schema/diagnostic", "the wall between the two sides: tables, and what is said of their input"},
	{"schema/storedir schema/parquetfile", "the commits and files of a store, the Parquet files of tables"},
	{"schema/parquetfile/rowreader", "reading these files"},
	{"schema/s3cache", "the local copy of a store on S3"},

	{"stages/listing", "lists that the experiments of a batch share"},
	{"stages/loadobject/columns stages/loadobject/isa stages/loadobject/funcinfo", "load objects: columns of the cache, instruction sets, kinds and places of functions"},
	{"stages/loadobject/dwop stages/program", "operations of DWARF expressions; the structure of programs"},
	{"stages/stacktree", "the tree of recorded stacks"},
	{"stages/attribute", "sums by stack to values, wherever both come from"},
	{"stages/loadobject/insn/... stages/loadobject/cfi", "machine code, call frame information"},
	{"stages/loadobject/elf/... stages/loadobject/linkage", "ELF files; procedure linkage tables"},
	{"stages/loadobject/symtab", "functions and lines by offset"},
	{"stages/loadobject/types stages/loadobject/dwarf/...", "data layouts, scopes, variables; debug information"},
	{"stages/loadobject/lines stages/loadobject/types/build", "lines of code; tables of types, from debug information"},
	{"stages/loadobject/inlines", "inlined calls, from debug information"},
	{"stages/loadobject/functions", "modules, names, lines and calls of functions, from debug information"},
	{"stages/loadobject/cache", "all tables of a load object, in memory and on disk"},

	{"stages/decode stages/decode/bounds stages/decode/mmap", "what a recording is, whatever its format"},
	{"stages/decode/tracepoint stages/decode/schedule", "what the kernel records: fields of tracepoints, switches of threads"},
	{"stages/decode/gprofng/... stages/decode/perfdata stages/decode/pprof stages/decode/jitdump stages/decode/replay", "one package per format, and one for what a store has"},
	{"stages/symbolize/image stages/symbolize/source", "which load object owned an address when; the text of source files"},
	{"stages/symbolize", "PCs to locations and functions"},
	{"stages/unwind", "recorded stacks to the manual's"},
	{"stages/dataspace", "accesses to memory to data objects"},
	{"stages/samples stages/code stages/structure stages/rollup", "events to samples and their sums; machine code and source text; programs and stacks read back from a store; values by function of many experiments"},
	{"stages/write", "the files of a store"},

	{"pipeline/compact pipeline/plan pipeline/record", "merging of batches; an ingest's chunks for the tasks of a cluster; recording of programs"},
	{"pipeline", "the writing side"},
	{"pipeline/runner pipeline/owner", "ingests with their reports, logs and metrics; the owners of paths"},
	{"queries/...", "the reading side"},
	{"cmd/stackmill cmd/acceptance/suite cmd/acceptance/golden cmd/acceptance/perftext cmd/docgen", "the program; what tests of the whole share; the reference pages"},
	{"cmd/...", "the whole against truth, peers, damage and time"},
}

// borders are further restrictions: the only packages of this module that a folder may import.
// `internal` means all packages in internal.
var borders = []struct{ folder, imports, why string }{
	{"internal", "", "it knows no profile"},
	{"schema", "internal", "it is what both sides share"},
	{"schema/parquetfile", "schema internal/chunked", "it knows tables, whatever they are about"},
	{"stages/loadobject", "internal", "it knows files, no recordings, tables or problems"},
	{"stages/decode", "internal schema schema/diagnostic stages/loadobject/isa", "it knows recordings; of load objects only which machine they are for"},
	{"stages/program", "internal schema stages/loadobject/funcinfo", "it is the structure of programs, whatever it is made of"},
	{"stages/stacktree", "internal schema stages/program", "it knows stacks, however they were recorded"},
	{"stages/attribute", "internal schema schema/diagnostic stages/loadobject/funcinfo stages/program stages/stacktree", "it runs over stored stacks as over recorded ones"},
	{"stages/structure", "internal schema schema/storedir schema/parquetfile/rowreader stages/attribute stages/loadobject/funcinfo stages/program stages/stacktree", "it reads a batch, for whoever reads a store"},
	{"stages/rollup", "internal schema", "it is made of the rows of tables"},
	{"stages/write", "internal schema schema/storedir schema/parquetfile stages/rollup", "it writes any table"},
	{"pipeline/compact", "internal schema schema/storedir schema/parquetfile/rowreader stages/write", "it merges the rows of any table"},
	{"pipeline/plan", "internal schema schema/storedir", "it knows paths and what a store says of them"},
	{"pipeline/record", "internal", "it knows command lines, no recordings"},
	{"queries", "internal schema schema/storedir schema/parquetfile schema/parquetfile/rowreader stages/rollup stages/attribute stages/program stages/stacktree stages/structure", "it knows no recordings, and no stage that writes"},
}

// sqlEngine is the start of the SQL engine's import paths. Only the reading side may import it.
const sqlEngine = "github.com/duckdb/"

var readers = []string{"queries", "cmd"}

// upward lists imports of packages in the same or a higher layer, which only tests may have.
var upward = map[string]string{
	"stages/decode/gprofng":  "stages/symbolize/image", // what the map events of composed experiments mean
	"stages/decode/perfdata": "stages/unwind",          // what the recorded dumps become
	"queries/explain":        "pipeline",               // stacks of real recordings
}

const module = "stackmill/"

// pkg describes the Go files of a folder.
type pkg struct {
	imports, testImports map[string]string // by import path: a file that imports it
	lines                int               // lines of code, without tests
}

// packages reads all Go files of the module by folder.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	all := map[string]*pkg{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if name := entry.Name(); name == "testdata" || rel != "." && name[0] == '.' || rel == "internal/demangle" || name == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		p := all[path.Dir(rel)]
		if p == nil {
			p = &pkg{map[string]string{}, map[string]string{}, 0}
			all[path.Dir(rel)] = p
		}
		imports := p.imports
		if strings.HasSuffix(rel, "_test.go") {
			imports = p.testImports
		} else {
			p.lines += bytes.Count(text, []byte("\n"))
		}
		for _, spec := range f.Imports {
			to, _ := strconv.Unquote(spec.Path.Value)
			imports[to] = rel
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// place returns the layer of a package, and the entry of house that it is in; -1 if it is in none.
func place(folder string) (layer int, part string) {
	for n, l := range house {
		for _, part := range strings.Fields(l.folders) {
			if whole, ok := strings.CutSuffix(part, "/..."); folder == part || ok && within(folder, whole) {
				return n, part
			}
		}
	}
	return -1, ""
}

func within(folder, of string) bool { return folder == of || strings.HasPrefix(folder, of+"/") }

// Packages import only packages of lower layers, and only those that borders allow.
func TestLayers(t *testing.T) {
	all := packages(t)
	for _, l := range house {
		for _, part := range strings.Fields(l.folders) {
			if all[part] == nil && !strings.HasSuffix(part, "/...") {
				t.Errorf("%s: there is no such package", part)
			}
		}
	}
	for folder, p := range all {
		own, _ := place(folder)
		if own < 0 {
			t.Errorf("%s is in no layer", folder)
			continue
		}
		for to, file := range p.imports {
			checkImport(t, folder, to, file, false)
		}
		for to, file := range p.testImports {
			checkImport(t, folder, to, file, true)
		}
	}
	for folder, to := range upward {
		if p := all[folder]; p == nil || p.testImports[module+to] == "" {
			t.Errorf("no test of %s imports %s", folder, to)
		}
	}
}

func checkImport(t *testing.T, from, to, file string, test bool) {
	t.Helper()
	if strings.HasPrefix(to, sqlEngine) && !slices.ContainsFunc(readers, func(r string) bool { return within(from, r) }) {
		t.Errorf("%s: only the reading side imports %s", file, to)
	}
	to, ok := strings.CutPrefix(to, module)
	if !ok || to == from {
		return
	}
	own, part := place(from)
	switch layer, of := place(to); {
	case layer < 0 || layer < own || layer == own && of == part:
	case test && upward[from] == to:
	case layer == own:
		t.Errorf("%s: %s imports %s, of the same layer", file, from, to)
	default:
		t.Errorf("%s: %s imports %s, of a layer above it: %s", file, from, to, house[layer].holds)
	}
	if test {
		return
	}
	for _, b := range borders {
		may := func(part string) bool { return part == to || part == "internal" && within(to, part) }
		if within(from, b.folder) && !within(to, b.folder) && !slices.ContainsFunc(strings.Fields(b.imports), may) {
			t.Errorf("%s: %s must not import %s: %s", file, b.folder, to, b.why)
		}
	}
}

// top are the folders of the module.
var top = []string{"cmd", "docs", "internal", "pipeline", "queries", "schema", "stages", "testdata"}

func TestTopFolders(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	ignored := strings.Fields(read(t, filepath.Join(root, ".gitignore")))
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && name[0] != '.' && !slices.Contains(ignored, "/"+name+"/") {
			found = append(found, name)
		}
	}
	if !slices.Equal(found, top) {
		t.Errorf("the folders at the top are %q, not %q", found, top)
	}
}

// No folder of the two upper levels, except the one of load objects, has more than a quarter of the
// code.
func TestRooms(t *testing.T) {
	rooms, total := map[string]int{}, 0
	for folder, p := range packages(t) {
		parts := strings.Split(folder, "/")
		rooms[path.Join(parts[:min(2, len(parts))]...)] += p.lines
		total += p.lines
	}
	for room, lines := range rooms {
		if room != "stages/loadobject" && lines > total/4 {
			t.Errorf("%s holds %d of %d lines", room, lines, total)
		}
	}
}

// room is the folder of the house that a package is in.
func room(folder string) string {
	parts := strings.Split(folder, "/")
	if parts[0] == "stages" {
		return path.Join(parts[:2]...)
	}
	return parts[0]
}
