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

// guard admits only calls that present the token, and converts panics to errors.
type guard struct {
	from *serve.Server
}

const (
	authorization = "authorization"
	bearer        = "Bearer"
	basic         = "Basic"
)

var (
	errToken    = status.Error(codes.Unauthenticated, "the token is missing or wrong (send it as authorization: Bearer TOKEN, or as the password of any user)")
	errStalled  = status.Error(codes.Aborted, "the client does not read the answer")
	errReadOnly = status.Error(codes.PermissionDenied, "the store is read-only")
)

// writeMethods are the methods by which clients would send rows.
var writeMethods = []string{"DoPut", "DoExchange"}

func (g *guard) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (answer any, err error) {
	if err := g.authorize(ctx); err != nil {
		return nil, err
	}
	defer g.recoverPanic(info.FullMethod, &err)
	return handle(ctx, request)
}

func (g *guard) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	if err := g.authorize(stream.Context()); err != nil {
		return err
	}
	if slices.Contains(writeMethods, path.Base(info.FullMethod)) {
		return errReadOnly
	}
	watched := &watchedStream{ServerStream: stream, patience: g.from.Patience, stalled: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		var err error
		defer func() { ended <- err }()
		defer g.recoverPanic(info.FullMethod, &err)
		err = handle(server, watched)
	}()
	select {
	case err := <-ended:
		return err
	case <-watched.stalled: // returning ends the call, and so the handler
		return errStalled
	}
}

// watchedStream detects that a client has stopped reading messages.
type watchedStream struct {
	grpc.ServerStream
	patience time.Duration
	once     sync.Once
	stalled  chan struct{} // closed when sending a message has taken longer than patience
}

// SendMsg implements grpc.ServerStream. It returns when the client has room for the message.
func (s *watchedStream) SendMsg(m any) error {
	late := time.AfterFunc(s.patience, func() { s.once.Do(func() { close(s.stalled) }) })
	defer late.Stop()
	return s.ServerStream.SendMsg(m)
}

// recoverPanic converts a panic to the error of a call.
func (g *guard) recoverPanic(method string, err *error) {
	if p := recover(); p != nil {
		g.from.Log.Error("request failed", "method", method, "error", p, "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "internal error")
	}
}

// authorize checks that a call has the token, as a bearer token or as the password of any user.
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
			text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(credential, "=")) // some clients omit the padding
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
		if code := codeOf(wrong); code != codes.Unauthenticated { // too many wrong tokens
			err = status.Error(code, wrong.Error())
		}
	}
	return err
}

// handshakeServer is a Flight server that also answers the call Handshake, by which clients exchange a user and a
// password for a token.
type handshakeServer struct {
	flight.FlightServer
	*guard
}

// Handshake implements flight.FlightServer. The guard has already checked the password, which is the token. If the
// server needs no token, clients still expect one.
func (h handshakeServer) Handshake(stream flight.FlightService_HandshakeServer) error {
	return stream.SendHeader(metadata.Pairs(authorization, bearer+" "+cmp.Or(h.from.Token, "none")))
}
