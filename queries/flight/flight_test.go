package flight

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"stackmill/queries"
	"stackmill/queries/serve"
	"stackmill/queries/storetest"
)

// answering is the name of an environment variable. If it is set, the test's program answers a request; its value are
// the server's options in JSON.
const answering = "STACKMILL_TEST_ANSWER"

func TestMain(m *testing.M) {
	if text := os.Getenv(answering); text != "" {
		var o serve.Options
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = serve.Answer(context.Background(), o, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// start starts a server for a store, and returns its address.
func start(t *testing.T, store, token string, change func(*serve.Options)) string {
	t.Helper()
	o := serve.Options{Store: store, Version: "test", Memory: 256 << 20, Timeout: time.Minute, Concurrent: 2, Waiting: 200, Largest: 16 << 20, Token: token}
	if change != nil {
		change(&o)
	}
	options, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(answering, string(options))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Program, o.Log = []string{program}, slog.New(slog.NewTextHandler(t.Output(), nil))
	from, err := serve.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(from)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop(time.Minute)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := from.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, address string) *flightsql.Client {
	t.Helper()
	c, err := flightsql.NewClient(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// fetch returns the rows of a result, each batch as JSON, and their columns.
func fetch(ctx context.Context, c *flightsql.Client, info *flight.FlightInfo, err error) (rows string, columns *arrow.Schema, _ error) {
	if err != nil {
		return "", nil, err
	}
	r, err := c.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		return "", nil, err
	}
	defer r.Release()
	for r.Next() {
		text, err := json.Marshal(r.RecordBatch())
		if err != nil {
			return "", nil, err
		}
		rows += string(text)
	}
	return rows, r.Schema(), r.Err()
}

// A statement returns the same rows and columns whether it is prepared or not, and the columns are those that were
// announced.
func TestStatements(t *testing.T) {
	c := dial(t, start(t, storetest.New(t, storetest.Two), "", nil))
	ctx := t.Context()
	for text, want := range map[string]string{
		"SELECT experiment, count(*) AS n FROM experiments GROUP BY ALL ORDER BY ALL": `[{"experiment":"monday/test.1.er","n":1},{"experiment":"tuesday/test.1.er","n":1}]`,
		"SELECT 1 AS a, 2 AS a, NULL AS n, 3::HUGEINT AS h; -- the end":               `[{"a":2,"h":"3","n":null}]`,
		"FROM range(3) t(i) WHERE i > 5":                                              "",
		"CREATE TEMP TABLE t AS SELECT 1 AS one; SELECT one FROM t":                   `[{"one":1}]`,
		"PIVOT (SELECT 'x' AS k, 1 AS v) ON k USING sum(v)":                           `[{"x":"1"}]`,
	} {
		info, err := c.Execute(ctx, text)
		rows, columns, err := fetch(ctx, c, info, err)
		if err != nil || rows != want {
			t.Errorf("%s: %s, %v; want %s", text, rows, err, want)
			continue
		}
		said, err := c.GetExecuteSchema(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := flight.DeserializeSchema(said.GetSchema(), memory.DefaultAllocator); err != nil || !s.Equal(columns) {
			t.Errorf("%s: %v %v; its rows have %v", text, s, err, columns)
		}
		p, err := c.Prepare(ctx, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !p.DatasetSchema().Equal(columns) {
			t.Errorf("%s: prepared: %v; its rows have %v", text, p.DatasetSchema(), columns)
		}
		for range 2 {
			info, err := p.Execute(ctx)
			if rows, _, err := fetch(ctx, c, info, err); err != nil || rows != want {
				t.Errorf("%s: prepared: %s, %v", text, rows, err)
			}
		}
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

const endless = "SELECT max(sin(i)) FROM range(1000000000000) t(i)"

// Each statement that is refused, wrong, too large or too slow ends with the right error. Nothing can be inserted.
func TestFailures(t *testing.T) {
	c := dial(t, start(t, storetest.New(t, storetest.Two), "", func(o *serve.Options) { o.Largest = 1 << 20 }))
	ctx := t.Context()
	for text, want := range map[string]codes.Code{
		"DROP VIEW experiments":       codes.PermissionDenied,
		"COPY (SELECT 1) TO '/tmp/x'": codes.PermissionDenied,
		"SELECT nonsense":             codes.InvalidArgument,
		"SELECT ?::INT":               codes.InvalidArgument,
		"":                            codes.InvalidArgument,
		"SELECT repeat('x', 1000) || i FROM range(10000) t(i)": codes.ResourceExhausted,
		"SELECT '" + strings.Repeat("x", 1<<20) + "'":          codes.ResourceExhausted,
	} {
		info, err := c.Execute(ctx, text)
		if _, _, err := fetch(ctx, c, info, err); status.Code(err) != want {
			t.Errorf("%.60s: %v; want %v", text, err, want)
		}
		if _, err := c.Prepare(ctx, text); want == codes.PermissionDenied && status.Code(err) != want || strings.Contains(text, "?") && !strings.Contains(fmt.Sprint(err), "1 parameters") {
			t.Errorf("%.60s: prepared: %v", text, err)
		}
	}
	hasty := dial(t, start(t, storetest.New(t, storetest.Two), "", func(o *serve.Options) { o.Timeout = time.Second }))
	info, err := hasty.Execute(ctx, endless)
	if _, _, err := fetch(ctx, hasty, info, err); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
	// This calls DoPut instead of ExecuteUpdate, which may return EOF: the server refuses the call before the client
	// has sent the statement.
	put, err := c.Client.DoPut(ctx)
	if err == nil {
		_, err = put.Recv()
	}
	if status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
	if _, err := c.BeginTransaction(ctx); status.Code(err) != codes.Unimplemented {
		t.Error(err)
	}
	if _, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte("nonsense")}); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if ticket, err := flightsql.CreateStatementQueryTicket([]byte("short")); err != nil {
		t.Error(err)
	} else if _, err := c.DoGet(ctx, &flight.Ticket{Ticket: ticket}); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
}

// A statement ends when its client cancels it or goes away.
func TestCancel(t *testing.T) {
	c := dial(t, start(t, storetest.New(t, storetest.Two), "", nil))
	info, err := c.Execute(t.Context(), endless)
	if err != nil {
		t.Fatal(err)
	}
	request := flight.CancelFlightInfoRequest{Info: info}
	ended := make(chan error, 1)
	go func() {
		_, _, err := fetch(context.Background(), c, info, nil)
		ended <- err
	}()
	for {
		result, err := c.CancelFlightInfo(t.Context(), &request)
		if err != nil {
			t.Fatal(err)
		}
		if result.Status == flight.CancelStatusCancelled {
			break
		}
		time.Sleep(time.Millisecond) // the statement does not run yet
	}
	if err := <-ended; status.Code(err) != codes.Canceled || !strings.Contains(err.Error(), errCanceled.Error()) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := fetch(ctx, c, info, nil); err == nil {
		t.Error("an endless statement ended")
	}
	// Both slots are free again: these statements use them.
	for range 2 {
		info, err := c.Execute(t.Context(), "SELECT 1 AS a")
		if rows, _, err := fetch(t.Context(), c, info, err); err != nil || rows != `[{"a":1}]` {
			t.Error(rows, err)
		}
	}
}

// Without the token, each call is refused. Clients send the token as a bearer token or as a password.
func TestToken(t *testing.T) {
	c := dial(t, start(t, storetest.New(t, storetest.Two), "open sesame", nil))
	for header, want := range map[string]codes.Code{
		"":                   codes.Unauthenticated,
		"Bearer nonsense":    codes.Unauthenticated,
		"open sesame":        codes.Unauthenticated,
		"Bearer open sesame": codes.OK,
		"bearer open sesame": codes.OK,
		"Basic " + base64.StdEncoding.EncodeToString([]byte("me:open sesame")):    codes.OK,
		"Basic " + base64.RawStdEncoding.EncodeToString([]byte("me:open sesame")): codes.OK,
		"Basic " + base64.StdEncoding.EncodeToString([]byte("open sesame:me")):    codes.Unauthenticated,
		"Basic nonsense": codes.Unauthenticated,
	} {
		ctx := t.Context()
		if header != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", header)
		}
		if _, err := c.GetCatalogs(ctx); status.Code(err) != want {
			t.Errorf("%q: %v", header, err)
		}
		stream, err := c.Client.ListActions(ctx, &flight.Empty{})
		if err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != want {
			t.Errorf("%q: actions: %v", header, err)
		}
	}
	if _, err := c.Client.AuthenticateBasicToken(t.Context(), "me", "wrong"); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
	ctx, err := c.Client.AuthenticateBasicToken(t.Context(), "me", "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetCatalogs(ctx); err != nil {
		t.Error(err)
	}
}

// The lists have all tables and views that SQL can read, with the columns that a query of them returns.
func TestMetadata(t *testing.T) {
	c := dial(t, start(t, storetest.New(t, storetest.Two), "", nil))
	ctx := t.Context()
	text := func(s string) *string { return &s }
	for _, x := range []struct {
		ask  func() (*flight.FlightInfo, error)
		want string
	}{
		{func() (*flight.FlightInfo, error) { return c.GetCatalogs(ctx) }, `[{"catalog_name":"stackmill"}]`},
		{func() (*flight.FlightInfo, error) {
			return c.GetDBSchemas(ctx, &flightsql.GetDBSchemasOpts{DbSchemaFilterPattern: text("m_i%")})
		}, `[{"catalog_name":"stackmill","db_schema_name":"main"}]`},
		{func() (*flight.FlightInfo, error) {
			return c.GetDBSchemas(ctx, &flightsql.GetDBSchemasOpts{Catalog: text("%")})
		}, `[]`},
		{func() (*flight.FlightInfo, error) { return c.GetTableTypes(ctx) }, `[{"table_type":"BASE TABLE"},{"table_type":"VIEW"}]`},
		{func() (*flight.FlightInfo, error) {
			return c.GetTables(ctx, &flightsql.GetTablesOpts{TableNameFilterPattern: text("function\\_m%"), TableTypes: []string{"VIEW"}})
		},
			`[{"catalog_name":"stackmill","db_schema_name":"main","table_name":"function_metrics","table_type":"VIEW"}]`},
		{func() (*flight.FlightInfo, error) {
			return c.GetTables(ctx, &flightsql.GetTablesOpts{TableTypes: []string{"SYNONYM"}})
		}, `[]`},
		{func() (*flight.FlightInfo, error) {
			return c.GetPrimaryKeys(ctx, flightsql.TableRef{Table: "experiments"})
		}, `[]`},
	} {
		info, err := x.ask()
		if err != nil {
			t.Fatal(err)
		}
		rows, columns, err := fetch(ctx, c, info, nil)
		if err != nil || strings.Replace(rows, "[]", "", 1) != strings.Replace(x.want, "[]", "", 1) {
			t.Errorf("%s %v; want %s", rows, err, x.want)
		}
		if s, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator); err != nil || !s.Equal(columns) {
			t.Errorf("%v %v; the rows have %v", s, err, columns)
		}
	}
	info, err := c.GetTables(ctx, &flightsql.GetTablesOpts{IncludeSchema: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	n := 0
	for r.Next() {
		b := r.RecordBatch()
		for i := range int(b.NumRows()) {
			n++
			name := b.Column(2).ValueStr(i)
			if !slices.Contains([]string{"experiments", "experiment_names", "function_metrics", "samples"}, name) {
				continue
			}
			encoded, err := base64.StdEncoding.DecodeString(b.Column(4).ValueStr(i))
			if err != nil {
				t.Fatal(err)
			}
			listed, err := flight.DeserializeSchema(encoded, memory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			said, err := c.GetExecuteSchema(ctx, "FROM "+name)
			if err != nil {
				t.Fatal(err)
			}
			given, err := flight.DeserializeSchema(said.GetSchema(), memory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			var a, b []string
			for k := range listed.NumFields() {
				a = append(a, listed.Field(k).Name+" "+listed.Field(k).Type.String())
			}
			for k := range given.NumFields() {
				b = append(b, given.Field(k).Name+" "+given.Field(k).Type.String())
			}
			if d := cmp.Diff(b, a); d != "" {
				t.Errorf("%s (-queried +listed):\n%s", name, d)
			}
			if means, ok := listed.Field(0).Metadata.GetValue("ARROW:FLIGHT:SQL:REMARKS"); name == "samples" && (!ok || means == "") {
				t.Errorf("%s: %v", name, listed.Field(0))
			}
		}
	}
	if r.Err() != nil || n < 100 {
		t.Errorf("%d tables, %v", n, r.Err())
	}
	info, err = c.GetSqlInfo(ctx, []flightsql.SqlInfo{flightsql.SqlInfoFlightSqlServerName, flightsql.SqlInfoFlightSqlServerReadOnly})
	if rows, _, err := fetch(ctx, c, info, err); err != nil || rows != `[{"info_name":0,"value":[0,"stackmill"]},{"info_name":3,"value":[1,true]}]` {
		t.Error(rows, err)
	}
}

// Long rows, and the warnings about them, come in messages that clients accept with default settings.
func TestStream(t *testing.T) {
	c := dial(t, start(t, storetest.New(t, storetest.Two), "", nil))
	info, err := c.Execute(t.Context(), "SELECT repeat('x', 7000) || i AS a FROM range(2000) t(i)")
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.DoGet(t.Context(), info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	n := int64(0)
	for r.Next() {
		n += r.RecordBatch().NumRows()
	}
	if r.Err() != nil || n != 2000 {
		t.Error(n, r.Err())
	}
	var header metadata.MD
	if info, err = c.Execute(t.Context(), "SELECT sum(exclusive) FROM function_metrics"); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Client.DoGet(t.Context(), info.Endpoint[0].Ticket, grpc.Header(&header))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := flight.NewRecordReader(stream, ipc.WithAllocator(memory.DefaultAllocator))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	for rows.Next() {
	}
	if header, err = stream.Header(); err != nil || !strings.Contains(strings.Join(header.Get(warningHeader), "\n"), "mode") {
		t.Error(header, err)
	}
}

// A client that does not read its answer is disconnected. Other clients still get their answers.
func TestUnread(t *testing.T) {
	const patience = time.Second
	c := dial(t, start(t, storetest.New(t, storetest.Two), "", func(o *serve.Options) { o.Patience = patience }))
	info, err := c.Execute(t.Context(), "SELECT repeat('x', 100_000) AS x FROM range(100)")
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.DoGet(t.Context(), info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	time.Sleep(3 * patience)
	info, err = c.Execute(t.Context(), "SELECT 7 AS x")
	if rows, _, err := fetch(t.Context(), c, info, err); err != nil || rows != `[{"x":7}]` {
		t.Errorf("another call: %s, %v", rows, err)
	}
	for r.Next() { // reads what was sent before the end
	}
	if err := r.Err(); status.Code(err) != codes.Aborted {
		t.Errorf("the answer ends with %v", err)
	}
}

// Rows and lists of tables say which experiments are missing because their commit cannot be read,
// or because they were damaged and must be ingested again.
func TestMissingExperiments(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	c := dial(t, start(t, store, "", nil))
	path := filepath.Join(store, "commits", "00000000000000bb.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"whole", "damaged", "repaired"} {
		switch state {
		case "damaged":
			err = os.WriteFile(path, whole[:len(whole)/2], 0o666)
		case "repaired":
			err = queries.Repair(t.Context(), store, func(string, string) {})
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the server looks at the store every 250 ms
		statement, err := c.Execute(t.Context(), "SELECT count(*) AS n FROM experiments")
		if err != nil {
			t.Fatal(err)
		}
		tables, err := c.GetTables(t.Context(), &flightsql.GetTablesOpts{})
		if err != nil {
			t.Fatal(err)
		}
		for what, info := range map[string]*flight.FlightInfo{"rows": statement, "tables": tables} {
			stream, err := c.Client.DoGet(t.Context(), info.Endpoint[0].Ticket)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := flight.NewRecordReader(stream, ipc.WithAllocator(memory.DefaultAllocator))
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
			}
			header, err := stream.Header()
			if said := strings.Contains(strings.Join(header.Get(warningHeader), "\n"), "left out: the experiment test.1.er"); err != nil || rows.Err() != nil || said != (state != "whole") {
				t.Errorf("%s, %s: %v, %v, %v", what, state, header, err, rows.Err())
			}
			rows.Release()
		}
	}
}
