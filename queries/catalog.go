package queries

import (
	"cmp"
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

// definitions are the statements that make a store's catalog.
type definitions struct {
	own         []string // which files the tables have, the names of experiments, the fingerprint
	absent      []string // the views of tables without files
	present     []string // the views of tables with files, which are the same for every store
	fingerprint string   // of all that a catalog defines
}

// define returns the definitions for a store with these commits, whose experiments have
// these names. store is an absolute path.
func define(store string, commits []storedir.Commit, names []string) (*definitions, error) {
	return defineAs(store, commits, names, form{})
}

// form is another one than that in which columns are stored.
type form struct {
	types []string          // statements that make types
	casts map[string]string // formats that cast columns, by their names
}

// defineAs is define with columns in another form.
func defineAs(store string, commits []storedir.Commit, names []string, as form) (*definitions, error) {
	d := &definitions{own: append(as.types, namesView(commits, names, as.casts))}
	files := filesOf(store, commits)
	for _, t := range schema.Tables {
		d.own = append(d.own, filesMacro(t, files[t.Name]))
		if view := tableView(t, len(files[t.Name]) > 0, as.casts); len(files[t.Name]) > 0 {
			d.present = append(d.present, view)
		} else {
			d.absent = append(d.absent, view)
		}
	}
	all, err := d.all()
	if err != nil {
		return nil, err
	}
	h := xxhash.New()
	for _, s := range all {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	d.fingerprint = fmt.Sprintf("%s-%016x", schema.StoreVersion, h.Sum64())
	mark := fmt.Sprintf("CREATE OR REPLACE VIEW catalog_fingerprint AS SELECT %s AS fingerprint", quote(d.fingerprint))
	d.own = append(d.own, mark)
	return d, nil
}

// all returns what makes a catalog out of nothing.
func (d *definitions) all() ([]string, error) {
	views, err := derived()
	return slices.Concat([]string{pathMix, pathPart}, d.own, d.absent, d.present, views), err
}

// changes returns what makes a catalog out of that of another store, in which every table
// has files. It takes the engine a tenth of the time, since no file is opened: the macros
// that list files are only used when a view is read.
func (d *definitions) changes() []string { return slices.Concat(d.own, d.absent) }

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

// filesOf returns the paths of the committed files of each table, quoted.
func filesOf(store string, commits []storedir.Commit) map[string][]string {
	paths := map[string][]string{}
	for _, c := range commits {
		for _, f := range c.Files {
			paths[f.Table] = append(paths[f.Table], quote(literal.Replace(store+"/"+f.Path)))
		}
	}
	return paths
}

// filesMacro returns the macro that lists a table's files.
func filesMacro(t *schema.Table, paths []string) string {
	return fmt.Sprintf("CREATE OR REPLACE MACRO %s() AS [%s]", filesName(t), strings.Join(paths, ", "))
}

func filesName(t *schema.Table) string { return t.Name + "_files" }

// tableView returns the view of a plain table: exactly the committed files,
// read with the first one's schema, which all share, and the columns computed from
// theirs. A table without a file is an empty relation with the table's columns. casts
// are formats, by the names of columns, for those that are not shown as they are stored.
func tableView(t *schema.Table, present bool, casts map[string]string) string {
	var columns []string
	for _, c := range t.Columns {
		value := "t." + identifier(c.Name)
		switch {
		case !present:
			value = "NULL::" + c.Type.SQL()
		case t == schema.Experiments && c.Name == "experiment":
			value = "n.experiment"
		}
		value = fmt.Sprintf(cmp.Or(casts[c.Name], "%s"), value)
		columns = append(columns, value+" AS "+identifier(c.Name))
	}
	for _, c := range t.Computed {
		value := "NULL"
		if present {
			value = "(" + c.SQL + ")"
		}
		columns = append(columns, fmt.Sprintf("%s::%s AS %s", value, c.Type.SQL(), identifier(c.Name)))
	}
	from := "WHERE false"
	if present {
		from = strings.TrimSpace(fmt.Sprintf("FROM read_parquet(%s()) t %s", filesName(t), t.Joined))
		if t == schema.Experiments {
			from += " JOIN experiment_names n USING (experiment_id)"
		}
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT %s %s", t.Name, strings.Join(columns, ", "), from)
}

// literal protects the characters that read_parquet takes for patterns.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// namesView returns the view experiment_names, which gives every experiment
// its name for people; ids is the type of experiment_id.
func namesView(commits []storedir.Commit, names []string, casts map[string]string) string {
	id := cmp.Or(casts["experiment_id"], "%s")
	if len(commits) == 0 {
		return fmt.Sprintf("CREATE OR REPLACE VIEW experiment_names AS SELECT "+id+" AS experiment_id, NULL::VARCHAR AS experiment WHERE false", "NULL::VARCHAR")
	}
	var rows []string
	for i, name := range names {
		rows = append(rows, fmt.Sprintf("(%s, %s)", quote(commits[i].ExperimentID), quote(name)))
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW experiment_names AS SELECT "+id+" AS experiment_id, experiment FROM (VALUES %s) AS n(experiment_id, experiment)", "experiment_id", strings.Join(rows, ", "))
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
