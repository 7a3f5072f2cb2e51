package serve

import (
	"container/list"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"stackmill/internal/cachekey"
	"stackmill/queries/sandbox"
	"stackmill/schema"
)

// The answers that are kept: what is committed does not change.
const (
	mostKnown    = 64 << 20 // bytes
	largestKnown = 2 << 20  // bytes of one answer
)

// reply is an answer to a call.
type reply struct {
	Type     string   `json:"type"`
	Warnings []string `json:"warnings,omitempty"`
	State    string   `json:"state,omitempty"` // of the store that was opened for it
	body     *sandbox.Body
}

// known are answers, by their tags, those that were used last; and those under way, for
// which all that ask the same wait.
type known struct {
	mu    sync.Mutex
	of    map[string]*list.Element // of *knownReply
	order list.List                // the last used first
	bytes atomic.Int64             // also of answers that are not kept any more, and still read
	under map[string]*pending
}

type knownReply struct {
	tag string
	*reply
}

// pending is an answer under way.
type pending struct {
	done  chan struct{}
	users int // of the reply, besides the first
	reply *reply
	err   error
}

func newKnown() *known { return &known{of: map[string]*list.Element{}, under: map[string]*pending{}} }

// get returns the answer with a tag, which work makes if nobody else does. The caller releases
// its body.
func (k *known) get(ctx context.Context, tag string, work func() (*reply, error)) (*reply, error) {
	for {
		k.mu.Lock()
		if e := k.of[tag]; e != nil {
			k.order.MoveToFront(e)
			e.Value.(*knownReply).body.Share(1)
			k.mu.Unlock()
			return e.Value.(*knownReply).reply, nil
		}
		p := k.under[tag]
		if p == nil {
			p = &pending{done: make(chan struct{})}
			k.under[tag] = p
			k.mu.Unlock()
			k.make(tag, p, work)
			return p.reply, p.err
		}
		p.users++
		k.mu.Unlock()
		select {
		case <-p.done:
			if p.err == nil {
				return p.reply, nil
			}
			// Its client may have gone: it is made again, for this one.
			if ctx.Err() == nil && StatusOf(p.err) < http.StatusInternalServerError {
				return nil, p.err
			}
		case <-ctx.Done():
			k.leave(p)
			return nil, context.Cause(ctx)
		}
	}
}

// leave ends the waiting for an answer.
func (k *known) leave(p *pending) {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-p.done:
		if p.err == nil {
			p.reply.body.Release()
		}
	default:
		p.users--
	}
}

// make makes an answer and keeps it.
func (k *known) make(tag string, p *pending, work func() (*reply, error)) {
	p.err = fmt.Errorf("internal error: the answer was given up")
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.under, tag)
		if p.err == nil {
			p.reply.body.Share(p.users)
			k.keep(tag, p.reply)
		}
		close(p.done)
	}()
	p.reply, p.err = work()
}

// keep keeps an answer that is not large, in place of those that were not used for longest.
func (k *known) keep(tag string, r *reply) {
	if r.body.Size > largestKnown {
		return
	}
	text, err := r.body.Bytes()
	if err != nil {
		return
	}
	kept := *r
	kept.body = sandbox.NewBody(text)
	kept.body.OnRelease(func() { k.bytes.Add(-kept.body.Size) }) // clients may still read it
	k.of[tag] = k.order.PushFront(&knownReply{tag, &kept})
	k.bytes.Add(kept.body.Size)
	for k.bytes.Load() > mostKnown && k.order.Len() > 0 {
		last := k.order.Remove(k.order.Back()).(*knownReply)
		delete(k.of, last.tag)
		last.body.Release()
	}
}

// tag says what an answer is made of: the store's commits, the program, and the call.
func (c *call) tag(state, version string) string {
	return fmt.Sprintf("W/%q", cachekey.Hash(state, schema.StoreVersion, version, c.method, c.path, c.name, c.values))
}

// matches reports whether a list of tags has one. Compressed or not, an answer is the same. "*"
// would match any answer that is there: whether there is one is not known before it is made.
func matches(tags, tag string) bool {
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t == tag || "W/"+t == tag {
			return true
		}
	}
	return false
}
