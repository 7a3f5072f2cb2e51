package serve

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/queries/result"
	"stackmill/queries/sandbox"
)

const queryPath = "/api/v1/query"

// Stream is the answer to SQL, as Arrow data.
type Stream struct {
	IPC      *sandbox.Body // an Arrow IPC stream; the caller must release it
	Warnings string        // in the form of the header Stackmill-Warning; may be empty
}

// Query answers SQL for servers of other protocols, like POST /api/v1/query and within the same limits. StatusOf
// classifies its errors.
func (s *Server) Query(ctx context.Context, text string) (*Stream, error) {
	return s.query(ctx, text, false)
}

// Columns returns the columns of a query without computing its rows.
func (s *Server) Columns(ctx context.Context, text string) (*arrow.Schema, error) {
	a, err := s.query(ctx, text, true)
	if err != nil {
		return nil, err
	}
	defer a.IPC.Release()
	return schemaOf(a.IPC.Reader())
}

func (s *Server) query(ctx context.Context, text string, empty bool) (*Stream, error) {
	if len(text) > maxBody {
		return nil, errTooLong
	}
	body, err := json.Marshal(map[string]string{"sql": text, "format": "arrow"})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return e.path == queryPath })
	store, err := s.store.pin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer store.release()
	a, err := s.run(ctx, &call{endpoint: &endpoints[i], values: url.Values{}, body: body, columnsOnly: empty}, store)
	if err != nil {
		return nil, err
	}
	return &Stream{IPC: a.body, Warnings: joinWarnings(store.leftOut(), a.Warnings)}, nil
}

// writeColumns answers with the columns of a statement, as an Arrow stream without rows.
func writeColumns(w *job, conn *sql.Conn, statement string) error {
	names, err := namesOf(conn, statement)
	if err != nil {
		return err
	}
	if names != nil {
		statement = "SELECT * FROM (" + strings.TrimRight(statement, "; \t\r\n") + "\n) LIMIT 0"
	}
	columns, err := columnsOf(w.ctx, conn, statement)
	if err != nil {
		return err
	}
	fields := columns.Fields()
	if names != nil { // duplicate names: SELECT * from the subquery has renamed them
		if len(names) != len(fields) {
			return errors.New("internal error: the columns of the statement differ from the columns of its result")
		}
		for i, name := range names {
			fields[i].Name = name
		}
	}
	w.kind = arrowType
	return ipc.NewWriter(w.out, ipc.WithSchema(arrow.NewSchema(fields, nil))).Close()
}

// namesOf returns the names of a statement's columns, or nil if the statement cannot be a subquery. A statement with
// parameters is an error.
func namesOf(conn *sql.Conn, statement string) (names []string, err error) {
	err = conn.Raw(func(raw any) error {
		prepared, err := raw.(driver.Conn).Prepare(statement)
		if err != nil {
			return nil // such as PIVOT, which the engine expands to several statements
		}
		defer prepared.Close()
		if n := prepared.NumInput(); n > 0 {
			return badRequest(fmt.Errorf("the statement has %d parameters (replace them by values)", n))
		}
		p := prepared.(*duckdb.Stmt)
		if kind, err := p.StatementType(); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
			return err
		}
		n, err := p.ColumnCount()
		if err != nil {
			return err
		}
		names = make([]string, n)
		for i := range names {
			if names[i], err = p.ColumnName(i); err != nil {
				return err
			}
		}
		return nil
	})
	return names, err
}

// columnsOf runs a statement and returns its columns.
func columnsOf(ctx context.Context, conn *sql.Conn, statement string) (*arrow.Schema, error) {
	var stream bytes.Buffer
	if err := result.Arrow(ctx, conn, statement, &stream); err != nil {
		return nil, err
	}
	return schemaOf(&stream)
}

// schemaOf returns the columns of an Arrow stream.
func schemaOf(stream io.Reader) (*arrow.Schema, error) {
	r, err := ipc.NewReader(stream)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema(), nil
}
