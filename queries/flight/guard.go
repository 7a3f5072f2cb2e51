package flight

import (
	"cmp"
	"context"
	"encoding/base64"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"stackmill/queries/serve"
)

// guard lets only those calls through that present the token, and turns panics into errors.
type guard struct {
	from *serve.Server
}

const (
	authorization = "authorization"
	bearer        = "Bearer"
	basic         = "Basic"
)

var (
	errToken  = status.Error(codes.Unauthenticated, "the token is missing or wrong (send it as authorization: Bearer TOKEN, or as the password of any user)")
	errUnread = status.Error(codes.Aborted, "the client does not read the answer")
	errReads  = status.Error(codes.PermissionDenied, "the store is read-only: nothing can be put into it")
)

// writes are the methods by which clients send rows.
var writes = []string{"DoPut", "DoExchange"}

func (g *guard) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (answer any, err error) {
	if err := g.authorize(ctx); err != nil {
		return nil, err
	}
	defer g.recovered(info.FullMethod, &err)
	return handle(ctx, request)
}

func (g *guard) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	if err := g.authorize(stream.Context()); err != nil {
		return err
	}
	if slices.Contains(writes, path.Base(info.FullMethod)) {
		return errReads
	}
	watched := &watchedStream{ServerStream: stream, patience: g.from.Patience, stalled: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		var err error
		defer func() { ended <- err }()
		defer g.recovered(info.FullMethod, &err)
		err = handle(server, watched)
	}()
	select {
	case err := <-ended:
		return err
	case <-watched.stalled: // the end of the call ends the handler
		return errUnread
	}
}

// watchedStream notes when a client does not read what is sent to it.
type watchedStream struct {
	grpc.ServerStream
	patience time.Duration
	once     sync.Once
	stalled  chan struct{} // closed then
}

// SendMsg implements grpc.ServerStream.
func (s *watchedStream) SendMsg(m any) error {
	late := time.AfterFunc(s.patience, func() { s.once.Do(func() { close(s.stalled) }) })
	defer late.Stop()
	return s.ServerStream.SendMsg(m)
}

// recovered makes a panic the error of a call.
func (g *guard) recovered(method string, err *error) {
	if p := recover(); p != nil {
		g.from.Log.Error("request failed", "method", method, "error", p, "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "internal error")
	}
}

// authorize checks that a call has the token, as it is or as a password.
func (g *guard) authorize(ctx context.Context) error {
	if g.from.Token == "" {
		return nil
	}
	var address string
	if p, ok := peer.FromContext(ctx); ok {
		address = p.Addr.String()
	}
	err := errToken
	for _, value := range metadata.ValueFromIncomingContext(ctx, authorization) {
		scheme, credential, _ := strings.Cut(value, " ")
		credential = strings.TrimSpace(credential)
		if strings.EqualFold(scheme, basic) {
			text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(credential, "=")) // clients pad it or not
			if err != nil {
				continue
			}
			_, credential, _ = strings.Cut(string(text), ":")
		} else if !strings.EqualFold(scheme, bearer) {
			continue
		}
		wrong := g.from.CheckToken(credential, address)
		if wrong == nil {
			return nil
		}
		if code := codeOf(wrong); code != codes.Unauthenticated { // too many wrong ones
			err = status.Error(code, wrong.Error())
		}
	}
	return err
}

// handshaking answers the call by which clients exchange a user and a password for a token.
type handshaking struct {
	flight.FlightServer
	*guard
}

// Handshake implements flight.FlightServer. The guard has seen the password; where none is
// wanted, clients that send one want a token nevertheless.
func (h handshaking) Handshake(stream flight.FlightService_HandshakeServer) error {
	return stream.SendHeader(metadata.Pairs(authorization, bearer+" "+cmp.Or(h.from.Token, "none")))
}
