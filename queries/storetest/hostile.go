package storetest

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Targets are what hostile SQL tries to reach.
type Targets struct {
	Store   string // directory of a store
	Secret  string // a file outside of the store, in a directory that must not change
	Address string // HOST:PORT of a server that must not be contacted
}

//go:embed hostile.txt
var hostile string

// fileReaders are the SQL engine's table functions that take a path.
var fileReaders = strings.Fields(`glob parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan parquet_schema
read_blob read_csv read_csv_auto read_duckdb read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto
read_ndjson_objects read_parquet read_text sniff_csv`)

// HostileSQL returns SQL that readers must refuse: each statement tries to read other files, write
// files, change the engine, or contact another machine.
func (t Targets) HostileSQL() []string {
	out := filepath.Dir(t.Secret)
	fill := strings.NewReplacer("¶", "\n", "{SECRET}", t.Secret, "{OUT}", out, "{ADDRESS}", t.Address, "{TABLE_FILE}", filepath.Join(t.Store, storedir.FilePath(schema.Experiments.Name, "00000000000000aa")),
		"{CATALOG}", filepath.Join(t.Store, "stackmill.duckdb"), "{STORE}", t.Store)
	var all []string
	for line := range strings.Lines(hostile) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, fill.Replace(line))
		}
	}
	for _, reader := range fileReaders {
		for _, path := range []string{t.Secret, "/proc/self/environ", t.Store + "/tables/../../" + filepath.Base(t.Secret), out + "/*", "http://" + t.Address + "/x", "s3://bucket/x"} {
			all = append(all, "FROM "+reader+"('"+path+"')")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
