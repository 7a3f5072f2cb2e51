package queries

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/internal/lazyregexp"
)

// Refusal is the error of SQL that does more than read the store.
type Refusal struct {
	What string // the statement's first word, or the function
	Why  string
}

func (r *Refusal) Error() string { return r.What + " is refused: " + r.Why }

// forbidden lists parts of the engine's messages that mean that a locked engine refused something.
var forbidden = []string{"disabled by configuration", "disabled through configuration", "configuration has been locked"}

// IsRefusal reports whether an error means that SQL asked for more than it may do.
func IsRefusal(err error) bool {
	if err == nil || errors.As(err, new(*Refusal)) {
		return err != nil
	}
	if FindLostFile(err) != nil {
		return false
	}
	return mentioned(firstLine(err.Error()), forbidden) != nil
}

// The reasons of refusals.
const (
	onlyReads = "the store is read-only, and SQL may read it and create temporary tables, views and macros, no more"
	steers    = "the function steers the SQL engine and can write files"
	hides     = "what it runs cannot be determined"
)

// Admit ensures that SQL only reads the store and makes temporary tables, views and macros on this
// connection. For other SQL the error is a *Refusal. Admit runs all statements but the last, and
// returns the last for the caller to run. In all of them it resolves names of experiments
// (resolved). Unsafe stores admit all SQL.
//
// Admit splits the text into statements. It admits a statement only if the engine's own parser also
// sees a single one, of a kind that reads. Some kinds may read or write (EXPLAIN, CREATE): such a
// statement must also begin with one of a few forms.
func (db *DB) Admit(ctx context.Context, conn *sql.Conn, text string) (last string, err error) {
	if db.unsafe {
		return db.resolved(ctx, conn, text), nil
	}
	statements := split(text)
	for i, s := range statements {
		if err := admit(ctx, conn, s); err != nil {
			return "", err
		}
		s = db.resolved(ctx, conn, s)
		if i == len(statements)-1 {
			return s, nil
		}
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return "", err
		}
	}
	return "", errors.New("no SQL given")
}

// The beginnings that are allowed for statements of kinds that may read or write.
var (
	explains  = lazyregexp.New(`(?i)^EXPLAIN\s+(ANALYZE\s+|\(\s*FORMAT\s+\w+\s*\)\s*)?(SELECT|FROM|WITH|VALUES|TABLE|DESCRIBE|SUMMARIZE)\b`)
	makes     = lazyregexp.New(`(?i)^CREATE\s+(OR\s+REPLACE\s+)?TEMP(ORARY)?\s+(TABLE|VIEW|MACRO|FUNCTION)\b`)
	makesRows = lazyregexp.New(`(?i)^CREATE\s+(OR\s+REPLACE\s+)?TEMP(ORARY)?\s+TABLE\b`)
	pivots    = lazyregexp.New(`(?i)^(SELECT|FROM|WITH|PIVOT)\b`)
)

// admit returns an error unless a statement only reads.
func admit(ctx context.Context, conn *sql.Conn, s string) error {
	kind, err := kindOf(conn, s)
	if err != nil {
		return err
	}
	switch {
	case kind == duckdb.STATEMENT_TYPE_SELECT:
	case kind == duckdb.STATEMENT_TYPE_EXPLAIN && explains().MatchString(s):
	case kind == duckdb.STATEMENT_TYPE_CREATE && makes().MatchString(s):
	case kind == duckdb.STATEMENT_TYPE_MULTI && pivots().MatchString(s) && !strings.Contains(s, ";"):
		// A pivot that takes its columns from the data: the engine first runs a query for their
		// names.
	default:
		return &Refusal{firstWord(s), onlyReads}
	}
	return admitFunctions(ctx, conn, s, kind)
}

// kindOf returns the kind of a statement, which the engine parses without running it. The kind is
// STATEMENT_TYPE_MULTI if the engine turns the statement into several.
func kindOf(conn *sql.Conn, s string) (kind duckdb.StmtType, err error) {
	err = conn.Raw(func(raw any) error {
		prepared, err := raw.(*duckdb.Conn).Prepare(s)
		if err != nil {
			// This error of the driver has no type of its own. The engine's errors, whose texts may
			// contain the same words because they quote the statement, have the type Error.
			var engine *duckdb.Error
			if !errors.As(err, &engine) && strings.Contains(err.Error(), "multi-statement") {
				kind, err = duckdb.STATEMENT_TYPE_MULTI, nil
			}
			return err
		}
		defer prepared.Close()
		kind, err = prepared.(*duckdb.Stmt).StatementType()
		return err
	})
	return kind, err
}

// steering lists table functions that do more than read: they write files or to standard output,
// change the parser, or take pointers.
var steering = []string{"enable_logging", "disable_logging", "enable_profiling", "disable_profiling",
	"enable_peg_parser", "disable_peg_parser", "truncate_duckdb_logs", "arrow_scan", "arrow_scan_dumb"}

// Functions that run SQL given as a value. The plan contains the query that they run.
const (
	runsText = "query"
	runsJSON = "json_execute_serialized_sql"
)

// admitFunctions refuses functions that do more than read. It also looks for their names in the
// plan, because query() can build SQL from values.
func admitFunctions(ctx context.Context, conn *sql.Conn, s string, kind duckdb.StmtType) error {
	suspects := mentioned(strings.ToLower(s), append([]string{runsText, runsJSON}, steering...))
	if suspects == nil {
		return nil
	}
	if kind != duckdb.STATEMENT_TYPE_SELECT && !makesRows().MatchString(s) {
		why := steers
		if suspects[0] == runsText {
			why = hides + " in such a statement"
		}
		return &Refusal{suspects[0], why}
	}
	plan, err := planOf(ctx, conn, s)
	if err != nil {
		return err
	}
	if found := mentioned(plan, []string{`"` + runsJSON + `"`}); found != nil {
		return &Refusal{runsJSON, hides}
	}
	for _, name := range mentioned(plan, steering) {
		if strings.Contains(plan, `"`+name+`"`) {
			return &Refusal{name, steers}
		}
	}
	return nil
}

func mentioned(text string, names []string) (found []string) {
	for _, n := range names {
		if strings.Contains(text, n) {
			found = append(found, n)
		}
	}
	return found
}

// planOf returns the plan of a statement in lower case, without running the statement.
func planOf(ctx context.Context, conn *sql.Conn, s string) (string, error) {
	var key, plan string
	err := conn.QueryRowContext(ctx, "EXPLAIN (FORMAT json) "+s).Scan(&key, &plan)
	return strings.ToLower(plan), err
}

var word = lazyregexp.New(`^[A-Za-z_]+`)

func firstWord(s string) string {
	return cmp.Or(strings.ToUpper(word().FindString(s)), "the statement")
}

// AtMost adds a row limit to an admitted statement if that is a query. Without a limit, the driver
// would compute all rows before it returns the first.
func AtMost(conn *sql.Conn, statement string, rows int) string {
	limited := fmt.Sprintf("SELECT * FROM (%s\n) LIMIT %d", strings.TrimRight(statement, "; \t\r\n"), rows)
	if kind, err := kindOf(conn, limited); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
		return statement // EXPLAIN or CREATE
	}
	return limited
}
