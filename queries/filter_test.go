package queries

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema"
)

// operator is an operator of a query plan, as EXPLAIN prints it.
type operator struct {
	Name     string
	Children []operator
	Info     map[string]any `json:"extra_info"`
}

// scans are the operators that read files.
func (o operator) scans() (list []operator) {
	if strings.HasPrefix(o.Name, "READ_PARQUET") {
		list = append(list, o)
	}
	for _, c := range o.Children {
		list = append(list, c.scans()...)
	}
	return list
}

// plan returns how a query is answered.
func plan(t *testing.T, db *DB, query string) operator {
	t.Helper()
	var key, text string
	if err := db.QueryRow("EXPLAIN (FORMAT json) "+query).Scan(&key, &text); err != nil {
		t.Fatal(err)
	}
	var roots []operator
	if err := json.Unmarshal([]byte(text), &roots); err != nil {
		t.Fatal(err)
	}
	return operator{Children: roots}
}

// TestOneExperimentIsReadAlone checks that views read only rows of the requested experiment: every
// scan has the filter. Shared rows are found by the lists that experiments refer to.
func TestOneExperimentIsReadAlone(t *testing.T) {
	// Each table has a row before and a row after the requested one, so that no scan can be answered
	// from the bounds of files.
	again := strings.NewReplacer("00000000000000aa", "00000000000000ee", "00000000000000bb", "00000000000000ff", "00000000000000cc", "00000000000000a0")
	both := storetest.Two + storetest.Data
	db := open(t, storetest.New(t, both+again.Replace(both)))
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, table := range schema.Tables {
		if table != schema.FunctionSums && table.Links == nil { // no rows of all experiments together or shared by a batch
			of = append(of, table.Name)
		}
		if wide := table.Wide(); wide != "" {
			of = append(of, wide)
		}
	}
	for _, v := range views {
		if len(v.Parameters) == 0 && v.Columns[0].Name == "experiment_id" {
			of = append(of, v.Name)
		}
	}
	// In these views, conditions, recursion or tables that are read twice block the filter.
	whole := []string{"data_object_metrics", "data_layout",
		"memory_objects", "data_object_functions", "conservation", "tree_calls", "lock_callers", "series"}
	read := 0
	for _, view := range of {
		if slices.Contains(whole, view) {
			continue
		}
		for _, scan := range plan(t, db, "FROM "+view+" WHERE experiment_id = '00000000000000b0'").scans() {
			read++
			columns := fmt.Sprint(scan.Info["Projections"])
			if strings.Contains(columns, schema.ListedIn) || columns == "[experiment_id metric]" { // of the small table of metrics
				continue
			}
			if !strings.Contains(fmt.Sprint(scan.Info["Filters"]), "experiment_id=") {
				t.Errorf("%s: all experiments are read: %v", view, scan.Info)
			}
		}
	}
	if read < 200 {
		t.Errorf("%d scans: the plans are not those of a store with tables", read)
	}
}
