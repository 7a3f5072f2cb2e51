// Package flight answers SQL over Arrow Flight SQL, for ADBC, JDBC and ODBC drivers. It only
// reads: what may be asked, who may ask and what an answer may take is decided by package
// serve, as for HTTP.
//
// A handle of a statement is the statement itself, so that the server keeps nothing of its
// clients: nothing is left of those that vanish, and a prepared statement outlives a restart.
package flight

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"stackmill/queries/serve"
)

// Server answers over one listener.
type Server struct {
	grpc *grpc.Server
}

// The bounds of connections.
const (
	silence    = time.Minute      // after which a client is asked whether it is there
	idle       = 5 * time.Minute  // of a connection without calls
	longest    = 30 * time.Minute // of a connection; clients make a new one without a word
	lastAnswer = 2 * time.Minute  // for the reading of an answer when a connection ends
	mostCalls  = 64               // of one connection at once; turns bound the work
	mostOpen   = 256              // connections; more wait
)

// New returns a server that answers from a store.
func New(from *serve.Server) *Server {
	a := &answers{from: from, running: newRunning()}
	a.register()
	g := &guard{from}
	s := grpc.NewServer(
		grpc.ChainUnaryInterceptor(g.unary), grpc.ChainStreamInterceptor(g.stream),
		grpc.MaxRecvMsgSize(largestRequest), grpc.MaxHeaderListSize(64<<10), grpc.MaxConcurrentStreams(mostCalls), grpc.ConnectionTimeout(10*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: silence, MaxConnectionIdle: idle, MaxConnectionAge: longest, MaxConnectionAgeGrace: from.Timeout + lastAnswer}),
	)
	flight.RegisterFlightServiceServer(s, handshaking{flightsql.NewFlightServer(a), g})
	return &Server{s}
}

// largestRequest is how long a request may be: a statement has at most 1 MiB, and a ticket is
// made of it.
const largestRequest = 2 << 20

// Serve answers until Stop or an error of the listener, which it closes.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(netutil.LimitListener(l, mostOpen)) }

// Stop lets the calls under way end, for at most so long.
func (s *Server) Stop(grace time.Duration) {
	last := time.AfterFunc(grace, s.grpc.Stop)
	defer last.Stop()
	s.grpc.GracefulStop()
}

// codeOf returns the code of a call that failed with an error of package serve.
func codeOf(err error) codes.Code {
	if errors.Is(err, context.Canceled) {
		return codes.Canceled
	}
	switch serve.StatusOf(err) {
	case http.StatusBadRequest:
		return codes.InvalidArgument
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusNotFound:
		return codes.NotFound
	case serve.StatusLate:
		return codes.DeadlineExceeded
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return codes.ResourceExhausted
	case http.StatusServiceUnavailable:
		return codes.Unavailable
	}
	return codes.Internal
}

// failed is the error of a call that failed with an error of package serve.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codeOf(err), serve.Explain(err))
}
