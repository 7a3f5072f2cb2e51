package flight

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"stackmill/queries/serve"
)

// sqlServer implements flightsql.Server.
type sqlServer struct {
	flightsql.BaseServer
	from    *serve.Server
	running *runningStatements
}

var errTransaction = status.Error(codes.InvalidArgument, "transactions are not supported: the store is read-only")

// GetFlightInfoStatement implements flightsql.Server. The statement does not run yet: it runs when the client fetches
// its rows, and only then the client gets its columns.
func (a *sqlServer) GetFlightInfoStatement(_ context.Context, q flightsql.StatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if len(q.GetTransactionId()) > 0 {
		return nil, errTransaction
	}
	return statementInfo(d, q.GetQuery())
}

// statementInfo tells a client how to fetch the rows of a statement.
func statementInfo(d *flight.FlightDescriptor, text string) (*flight.FlightInfo, error) {
	ticket, err := flightsql.CreateStatementQueryTicket(newHandle(text))
	if err != nil {
		return nil, err
	}
	return infoOf(d, ticket, nil), nil
}

// GetSchemaStatement implements flightsql.Server.
func (a *sqlServer) GetSchemaStatement(ctx context.Context, q flightsql.StatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return a.schema(ctx, q.GetQuery())
}

// DoGetStatement implements flightsql.Server.
func (a *sqlServer) DoGetStatement(ctx context.Context, t flightsql.StatementQueryTicket) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	handle := t.GetStatementHandle()
	text, err := statementOf(handle)
	if err != nil {
		return nil, nil, err
	}
	ctx, done := a.running.begin(ctx, string(handle[:handleID]))
	defer done()
	columns, rows, err := a.rows(ctx, text)
	if err != nil && errors.Is(context.Cause(ctx), errCanceled) { // after a cancellation, any error can occur
		err = statusError(errCanceled)
	}
	return columns, rows, err
}

// CreatePreparedStatement implements flightsql.Server. It refuses statements with parameters.
func (a *sqlServer) CreatePreparedStatement(ctx context.Context, r flightsql.ActionCreatePreparedStatementRequest) (result flightsql.ActionCreatePreparedStatementResult, err error) {
	if len(r.GetTransactionId()) > 0 {
		return result, errTransaction
	}
	result.DatasetSchema, err = a.from.Columns(ctx, r.GetQuery())
	result.Handle, result.IsUpdate = []byte(r.GetQuery()), new(bool)
	return result, statusError(err)
}

// ClosePreparedStatement implements flightsql.Server.
func (a *sqlServer) ClosePreparedStatement(context.Context, flightsql.ActionClosePreparedStatementRequest) error {
	return nil
}

// GetFlightInfoPreparedStatement implements flightsql.Server. The execution can be canceled like that of any
// statement.
func (a *sqlServer) GetFlightInfoPreparedStatement(_ context.Context, q flightsql.PreparedStatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return statementInfo(d, string(q.GetPreparedStatementHandle()))
}

// GetSchemaPreparedStatement implements flightsql.Server.
func (a *sqlServer) GetSchemaPreparedStatement(ctx context.Context, q flightsql.PreparedStatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return a.schema(ctx, string(q.GetPreparedStatementHandle()))
}

// DoGetPreparedStatement implements flightsql.Server, for clients that make tickets themselves.
func (a *sqlServer) DoGetPreparedStatement(ctx context.Context, q flightsql.PreparedStatementQuery) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return a.rows(ctx, string(q.GetPreparedStatementHandle()))
}

// CancelFlightInfo implements flightsql.Server. A statement can be canceled only while it is running.
func (a *sqlServer) CancelFlightInfo(_ context.Context, r *flight.CancelFlightInfoRequest) (flight.CancelFlightInfoResult, error) {
	status := flight.CancelStatusNotCancellable
	for _, e := range r.GetInfo().GetEndpoint() {
		t, err := flightsql.GetStatementQueryTicket(e.GetTicket())
		if err != nil {
			continue
		}
		if handle := t.GetStatementHandle(); len(handle) >= handleID && a.running.cancel(string(handle[:handleID])) {
			status = flight.CancelStatusCancelled
		}
	}
	return flight.CancelFlightInfoResult{Status: status}, nil
}

// infoOf tells a client to fetch an answer from this server, with a ticket. columns may be nil if they are not known
// yet.
func infoOf(d *flight.FlightDescriptor, ticket []byte, columns *arrow.Schema) *flight.FlightInfo {
	i := &flight.FlightInfo{FlightDescriptor: d, Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}}, TotalRecords: -1, TotalBytes: -1}
	if columns != nil {
		i.Schema = flight.SerializeSchema(columns, memory.DefaultAllocator)
	}
	return i
}

// schema returns the columns of a statement without computing its rows.
func (a *sqlServer) schema(ctx context.Context, text string) (*flight.SchemaResult, error) {
	columns, err := a.from.Columns(ctx, text)
	if err != nil {
		return nil, statusError(err)
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(columns, memory.DefaultAllocator)}, nil
}

const warningHeader = "stackmill-warning"

// setWarnings sends warnings about an answer in its header. texts may be "".
func setWarnings(ctx context.Context, texts string) error {
	if texts == "" {
		return nil
	}
	return grpc.SetHeader(ctx, metadata.Pairs(warningHeader, texts))
}

// rows runs a statement and returns its columns and a stream of its rows.
func (a *sqlServer) rows(ctx context.Context, text string) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	x, err := a.from.Query(ctx, text)
	if err != nil {
		return nil, nil, statusError(err)
	}
	if err := setWarnings(ctx, x.Warnings); err != nil {
		x.IPC.Release()
		return nil, nil, err
	}
	r, err := ipc.NewReader(x.IPC.Reader())
	if err != nil {
		x.IPC.Release()
		return nil, nil, status.Errorf(codes.Internal, "reading the answer: %v", err)
	}
	return r.Schema(), chunksOf(ctx, r, x.IPC.Release), nil
}

// maxChunk is the approximate maximum of bytes in a message with rows. Clients by default refuse messages of more
// than 4 MiB.
const maxChunk = 1 << 20

// chunksOf returns the record batches of a reader; it splits those larger than maxChunk. After the last batch, or
// when the call ends, it releases the reader and calls done.
func chunksOf(ctx context.Context, r array.RecordReader, done func()) <-chan flight.StreamChunk {
	chunks := make(chan flight.StreamChunk)
	go func() {
		defer close(chunks)
		defer done()
		defer r.Release()
		send := func(c flight.StreamChunk) bool {
			select {
			case chunks <- c:
				return true
			case <-ctx.Done():
				if c.Data != nil {
					c.Data.Release()
				}
				return false
			}
		}
		for r.Next() {
			b := r.RecordBatch()
			bytes := uint64(0)
			for _, c := range b.Columns() {
				bytes += c.Data().SizeInBytes()
			}
			parts := int64(bytes)/maxChunk + 1
			step := max(1, (b.NumRows()+parts-1)/parts)
			for from := int64(0); from < b.NumRows(); from += step {
				if !send(flight.StreamChunk{Data: b.NewSlice(from, min(from+step, b.NumRows()))}) {
					return
				}
			}
		}
		if err := r.Err(); err != nil {
			send(flight.StreamChunk{Err: status.Errorf(codes.Internal, "reading the answer: %v", err)})
		}
	}()
	return chunks
}

// A handle is an id of handleID bytes, which identifies one execution of a statement, followed by the statement.
const handleID = 16

func newHandle(text string) []byte {
	id := make([]byte, handleID, handleID+len(text))
	_, _ = rand.Read(id) // cannot fail
	return append(id, text...)
}

func statementOf(handle []byte) (string, error) {
	if len(handle) < handleID {
		return "", status.Error(codes.InvalidArgument, "the ticket was not issued by this server")
	}
	return string(handle[handleID:]), nil
}

// runningStatements has the functions that cancel running statements, by the id of their handle.
type runningStatements struct {
	mu  sync.Mutex
	ids map[string]context.CancelCauseFunc
}

func newRunningStatements() *runningStatements {
	return &runningStatements{ids: map[string]context.CancelCauseFunc{}}
}

var errCanceled = errors.Join(errors.New("the client canceled the statement"), context.Canceled)

// begin registers a running statement until done is called. If a handle is executed twice at the same time, only the
// later execution can be canceled.
func (r *runningStatements) begin(ctx context.Context, id string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[id] = cancel
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ids, id)
	}
}

// cancel cancels a statement if it is running, and reports whether it was.
func (r *runningStatements) cancel(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.ids[id]
	if end != nil {
		end(errCanceled)
	}
	return end != nil
}
