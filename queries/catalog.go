package queries

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/storedir"
)

// catalogName is the name under which the catalog is attached; its file is
// stackmill.duckdb, so that it is the same when another program opens that.
const catalogName = "stackmill"

// tableViews returns the statements that make the views of the plain tables of a
// store with these commits, whose experiments have these names, and the
// fingerprint of the catalog. store is an absolute path.
func tableViews(store string, commits []storedir.Commit, names []string) (statements []string, fingerprint string, err error) {
	statements = append(statements, pathMix, pathPart, namesView(commits, names))
	for _, t := range schema.Tables {
		statements = append(statements, tableView(store, t, commits))
	}
	views, err := derived()
	if err != nil {
		return nil, "", err
	}
	h := xxhash.New()
	for _, s := range append(slices.Clone(statements), views...) {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	fingerprint = fmt.Sprintf("%s-%016x", schema.StoreVersion, h.Sum64())
	mark := fmt.Sprintf("CREATE OR REPLACE VIEW catalog_fingerprint AS SELECT %s AS fingerprint", quote(fingerprint))
	return append(statements, mark), fingerprint, nil
}

// derived are the statements that make the views of this package, which are
// the same for every store.
var derived = sync.OnceValues(func() (statements []string, err error) {
	views, err := Views()
	for _, v := range views {
		statements = append(statements, v.create())
	}
	return statements, err
})

// create returns the statement that makes the view.
func (v View) create() string {
	if len(v.Parameters) == 0 {
		return fmt.Sprintf("CREATE VIEW %s AS\n%s", v.Name, v.SQL)
	}
	var names []string
	for _, p := range v.Parameters {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("CREATE MACRO %s(%s) AS TABLE\n%s", v.Name, strings.Join(names, ", "), v.SQL)
}

// tableView returns the view of a plain table: exactly the committed files,
// read with the first one's schema, which all share, and the columns computed from
// theirs. A table without a file is an empty relation with the table's columns.
func tableView(store string, t *schema.Table, commits []storedir.Commit) string {
	var paths []string
	for _, c := range commits {
		for _, f := range c.Files {
			if f.Table == t.Name {
				paths = append(paths, quote(literal.Replace(store+"/"+f.Path)))
			}
		}
	}
	var columns []string
	for _, c := range t.Columns {
		switch {
		case len(paths) == 0:
			columns = append(columns, fmt.Sprintf("NULL::%s AS %s", c.Type.SQL(), identifier(c.Name)))
		case t == schema.Experiments && c.Name == "experiment":
			columns = append(columns, "n.experiment")
		default:
			columns = append(columns, "t."+identifier(c.Name))
		}
	}
	for _, c := range t.Computed {
		value := "NULL"
		if len(paths) > 0 {
			value = "(" + c.SQL + ")"
		}
		columns = append(columns, fmt.Sprintf("%s::%s AS %s", value, c.Type.SQL(), identifier(c.Name)))
	}
	from := "WHERE false"
	if len(paths) > 0 {
		from = fmt.Sprintf("FROM read_parquet([%s]) t", strings.Join(paths, ", "))
		if t == schema.Experiments {
			from += " JOIN experiment_names n USING (experiment_id)"
		}
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT %s %s", t.Name, strings.Join(columns, ", "), from)
}

// literal protects the characters that read_parquet takes for patterns.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// namesView returns the view experiment_names, which gives every experiment
// its name for people.
func namesView(commits []storedir.Commit, names []string) string {
	if len(commits) == 0 {
		return "CREATE OR REPLACE VIEW experiment_names AS SELECT NULL::VARCHAR AS experiment_id, NULL::VARCHAR AS experiment WHERE false"
	}
	var rows []string
	for i, name := range names {
		rows = append(rows, fmt.Sprintf("(%s, %s)", quote(commits[i].ExperimentID), quote(name)))
	}
	return "CREATE OR REPLACE VIEW experiment_names AS SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS n(experiment_id, experiment)"
}

// uniqueNames names commits of different experiments: each by its base name, after as
// many parent directories as make it unique. Recordings made at the same path, one
// after the other, differ by their ids only.
func uniqueNames(commits []storedir.Commit) []string {
	names := make([]string, len(commits))
	parents := make([]string, len(commits)) // what is left of the path
	at := map[string]int{}
	for i, c := range commits {
		names[i] = c.Experiment
		parents[i] = path.Dir(c.Path)
		at[c.Path]++
	}
	for {
		users := map[string][]int{}
		for i, n := range names {
			users[n] = append(users[n], i)
		}
		if len(users) == len(names) {
			return names
		}
		for _, same := range users {
			if len(same) == 1 {
				continue
			}
			for _, i := range same {
				base := path.Base(parents[i])
				if at[commits[i].Path] > 1 || base == "." || base == "/" {
					names[i] += "@" + commits[i].ExperimentID
				} else {
					names[i] = base + "/" + names[i]
					parents[i] = path.Dir(parents[i])
				}
			}
		}
	}
}

// quote writes a text for SQL, in which a NUL would end the statement.
func quote(s string) string { return "'" + quoted.Replace(s) + "'" }

var quoted = strings.NewReplacer("'", "''", "\x00", "' || chr(0) || '")

func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
