// Package flight answers SQL over Arrow Flight SQL, for ADBC, JDBC and ODBC drivers. It is read-only. Package serve decides
// who may send which SQL and limits the answers, as for HTTP.
//
// The handle of a statement contains the statement, so that the server keeps no state of clients: vanished clients leave
// nothing behind, and prepared statements survive a restart.
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

// Server answers on one listener.
type Server struct {
	grpc *grpc.Server
}

// Limits of connections.
const (
	pingInterval   = time.Minute      // without traffic, before the server pings the client
	maxIdle        = 5 * time.Minute  // of a connection without calls
	maxAge         = 30 * time.Minute // of a connection; clients reconnect automatically
	answerGrace    = 2 * time.Minute  // to read an answer when the connection has reached maxAge
	maxCalls       = 64               // at the same time on one connection; package serve limits the work
	maxConnections = 256              // further ones wait
)

// New returns a server that answers with the store of an HTTP server.
func New(from *serve.Server) *Server {
	a := &sqlServer{from: from, running: newRunningStatements()}
	a.register()
	g := &guard{from}
	s := grpc.NewServer(
		grpc.ChainUnaryInterceptor(g.unary), grpc.ChainStreamInterceptor(g.stream),
		grpc.MaxRecvMsgSize(maxRequest), grpc.MaxHeaderListSize(64<<10), grpc.MaxConcurrentStreams(maxCalls), grpc.ConnectionTimeout(10*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingInterval, MaxConnectionIdle: maxIdle, MaxConnectionAge: maxAge, MaxConnectionAgeGrace: from.Timeout + answerGrace}),
	)
	flight.RegisterFlightServiceServer(s, handshakeServer{flightsql.NewFlightServer(a), g})
	return &Server{s}
}

// maxRequest bounds the bytes of a request: a statement has at most 1 MiB, and a ticket contains it.
const maxRequest = 2 << 20

// Serve answers until Stop or an error of the listener, which it closes.
func (s *Server) Serve(l net.Listener) error {
	return s.grpc.Serve(netutil.LimitListener(l, maxConnections))
}

// Stop waits for running calls, at most for grace.
func (s *Server) Stop(grace time.Duration) {
	last := time.AfterFunc(grace, s.grpc.Stop)
	defer last.Stop()
	s.grpc.GracefulStop()
}

// codeOf returns the gRPC code of an error of package serve.
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

// statusError converts an error of package serve.
func statusError(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codeOf(err), serve.Explain(err))
}
