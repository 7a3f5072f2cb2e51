// Package flight answers SQL over Arrow Flight SQL, for ADBC, JDBC and ODBC drivers. It is read-only. As for HTTP,
// package serve decides who may send which SQL and limits the answers.
//
// The handle of a statement contains the statement itself, so that the server keeps no state for clients: clients
// that disappear leave nothing behind, and prepared statements survive a restart of the server.
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

// Server is a Flight SQL server.
type Server struct {
	grpc *grpc.Server
}

// Limits of connections.
const (
	pingInterval   = time.Minute      // time without traffic after which the server pings the client
	maxIdle        = 5 * time.Minute  // time without calls after which a connection is closed
	maxAge         = 30 * time.Minute // age at which a connection is closed; clients reconnect automatically
	answerGrace    = 2 * time.Minute  // how long calls on a connection of maxAge may take beyond the time limit of requests
	maxCalls       = 64               // at the same time on one connection; package serve limits those that work
	maxConnections = 256              // further connections wait
)

// New returns a server for the store of an HTTP server, within the same limits.
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

// maxRequest is the maximum of bytes in a request, which may be a ticket with a statement of up to 1 MiB.
const maxRequest = 2 << 20

// Serve answers connections of the listener until Stop is called or the listener fails. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	return s.grpc.Serve(netutil.LimitListener(l, maxConnections))
}

// Stop ends the server. It lets calls in progress finish for the time grace, and then ends them.
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

// statusError converts an error of package serve to a gRPC status; nil stays nil.
func statusError(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codeOf(err), serve.Explain(err))
}
