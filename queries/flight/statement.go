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

// answers implements flightsql.Server.
type answers struct {
	flightsql.BaseServer
	from    *serve.Server
	running *running
}

// errTransaction is the error of a statement in a transaction: there are none to begin.
var errTransaction = status.Error(codes.InvalidArgument, "there are no transactions: the store is read-only")

// GetFlightInfoStatement implements flightsql.Server. The statement runs when its rows are
// fetched; their columns come with them.
func (a *answers) GetFlightInfoStatement(_ context.Context, q flightsql.StatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if len(q.GetTransactionId()) > 0 {
		return nil, errTransaction
	}
	ticket, err := flightsql.CreateStatementQueryTicket(newHandle(q.GetQuery()))
	if err != nil {
		return nil, err
	}
	return infoOf(d, ticket, nil), nil
}

// GetSchemaStatement implements flightsql.Server.
func (a *answers) GetSchemaStatement(ctx context.Context, q flightsql.StatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return a.schema(ctx, q.GetQuery())
}

// DoGetStatement implements flightsql.Server.
func (a *answers) DoGetStatement(ctx context.Context, t flightsql.StatementQueryTicket) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	handle := t.GetStatementHandle()
	text, err := statementOf(handle)
	if err != nil {
		return nil, nil, err
	}
	ctx, done := a.running.begin(ctx, string(handle[:handleID]))
	defer done()
	columns, rows, err := a.rows(ctx, text)
	if err != nil && errors.Is(context.Cause(ctx), errCancelled) { // wherever it was then
		err = failed(errCancelled)
	}
	return columns, rows, err
}

// CreatePreparedStatement implements flightsql.Server. Statements with parameters are refused.
func (a *answers) CreatePreparedStatement(ctx context.Context, r flightsql.ActionCreatePreparedStatementRequest) (result flightsql.ActionCreatePreparedStatementResult, err error) {
	if len(r.GetTransactionId()) > 0 {
		return result, errTransaction
	}
	result.DatasetSchema, err = a.from.Columns(ctx, r.GetQuery())
	result.Handle, result.IsUpdate = []byte(r.GetQuery()), new(bool)
	return result, failed(err)
}

// ClosePreparedStatement implements flightsql.Server.
func (a *answers) ClosePreparedStatement(context.Context, flightsql.ActionClosePreparedStatementRequest) error {
	return nil
}

// GetFlightInfoPreparedStatement implements flightsql.Server. It can be cancelled like any
// other statement.
func (a *answers) GetFlightInfoPreparedStatement(_ context.Context, q flightsql.PreparedStatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	ticket, err := flightsql.CreateStatementQueryTicket(newHandle(string(q.GetPreparedStatementHandle())))
	if err != nil {
		return nil, err
	}
	return infoOf(d, ticket, nil), nil
}

// GetSchemaPreparedStatement implements flightsql.Server.
func (a *answers) GetSchemaPreparedStatement(ctx context.Context, q flightsql.PreparedStatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return a.schema(ctx, string(q.GetPreparedStatementHandle()))
}

// DoGetPreparedStatement implements flightsql.Server, for clients that make tickets themselves.
func (a *answers) DoGetPreparedStatement(ctx context.Context, q flightsql.PreparedStatementQuery) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return a.rows(ctx, string(q.GetPreparedStatementHandle()))
}

// CancelFlightInfo implements flightsql.Server. What does not run yet, or not any more, cannot
// be cancelled.
func (a *answers) CancelFlightInfo(_ context.Context, r *flight.CancelFlightInfoRequest) (flight.CancelFlightInfoResult, error) {
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

// infoOf says where an answer is to be fetched: here.
func infoOf(d *flight.FlightDescriptor, ticket []byte, columns *arrow.Schema) *flight.FlightInfo {
	i := &flight.FlightInfo{FlightDescriptor: d, Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}}, TotalRecords: -1, TotalBytes: -1}
	if columns != nil {
		i.Schema = flight.SerializeSchema(columns, memory.DefaultAllocator)
	}
	return i
}

// schema returns the columns that a statement gives.
func (a *answers) schema(ctx context.Context, text string) (*flight.SchemaResult, error) {
	columns, err := a.from.Columns(ctx, text)
	if err != nil {
		return nil, failed(err)
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(columns, memory.DefaultAllocator)}, nil
}

// warning is the header of what makes an answer misleading.
const warning = "stackmill-warning"

// setWarnings sends what readers of an answer should know, if there is something.
func setWarnings(ctx context.Context, texts string) error {
	if texts == "" {
		return nil
	}
	return grpc.SetHeader(ctx, metadata.Pairs(warning, texts))
}

// rows runs a statement and returns what it gives.
func (a *answers) rows(ctx context.Context, text string) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	x, err := a.from.Query(ctx, text)
	if err != nil {
		return nil, nil, failed(err)
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

// largestChunk is about how many bytes a message of rows has: clients refuse those of more
// than 4 MiB unless they are told otherwise.
const largestChunk = 1 << 20

// chunksOf returns the batches of a reader, large ones in parts. It releases the reader and
// calls done when all were taken, or the call has ended.
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
			parts := int64(bytes)/largestChunk + 1
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

// handleID is the length of what tells one execution of a statement from others, at the
// beginning of its handle. The statement follows.
const handleID = 16

func newHandle(text string) []byte {
	id := make([]byte, handleID, handleID+len(text))
	_, _ = rand.Read(id) // it does not fail
	return append(id, text...)
}

func statementOf(handle []byte) (string, error) {
	if len(handle) < handleID {
		return "", status.Error(codes.InvalidArgument, "the ticket is none of this server")
	}
	return string(handle[handleID:]), nil
}

// running are the statements that are being executed, by their handles' ids.
type running struct {
	mu  sync.Mutex
	ids map[string]context.CancelCauseFunc
}

func newRunning() *running { return &running{ids: map[string]context.CancelCauseFunc{}} }

// errCancelled is why a statement ended that a client cancelled.
var errCancelled = errors.Join(errors.New("it was cancelled"), context.Canceled)

// begin notes that a statement is being executed, until done. Of one that is executed twice at
// once, the second can be cancelled.
func (r *running) begin(ctx context.Context, id string) (_ context.Context, done func()) {
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

// cancel ends a statement that is being executed, and reports whether there is one.
func (r *running) cancel(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.ids[id]
	if end != nil {
		end(errCancelled)
	}
	return end != nil
}
