package serve

import (
	"container/list"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"stackmill/key"
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
	body     []byte
}

// known are answers, by their tags, those that were used last; and those under way, for
// which all that ask the same wait.
type known struct {
	mu    sync.Mutex
	of    map[string]*list.Element // of *knownReply
	order list.List                // the last used first
	bytes int
	under map[string]*pending
}

type knownReply struct {
	tag string
	*reply
}

// pending is an answer under way.
type pending struct {
	done  chan struct{}
	reply *reply
	err   error
}

func newKnown() *known { return &known{of: map[string]*list.Element{}, under: map[string]*pending{}} }

// get returns the answer with a tag, which work makes if nobody else does.
func (k *known) get(ctx context.Context, tag string, work func() (*reply, error)) (*reply, error) {
	for {
		k.mu.Lock()
		if e := k.of[tag]; e != nil {
			k.order.MoveToFront(e)
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
			return nil, context.Cause(ctx)
		}
	}
}

// make makes an answer and keeps it.
func (k *known) make(tag string, p *pending, work func() (*reply, error)) {
	p.err = fmt.Errorf("internal error: the answer was given up")
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.under, tag)
		if p.err == nil && len(p.reply.body) <= largestKnown {
			k.keep(&knownReply{tag, p.reply})
		}
		close(p.done)
	}()
	p.reply, p.err = work()
}

// keep keeps an answer in place of those that were not used for longest.
func (k *known) keep(r *knownReply) {
	k.of[r.tag] = k.order.PushFront(r)
	k.bytes += len(r.body)
	for k.bytes > mostKnown {
		last := k.order.Remove(k.order.Back()).(*knownReply)
		k.bytes -= len(last.body)
		delete(k.of, last.tag)
	}
}

// tag says what an answer is made of: the store's commits, the program, and the call.
func (c *call) tag(state, version string) string {
	return fmt.Sprintf("W/%q", key.Hash(state, schema.StoreVersion, version, c.method, c.path, c.name, c.values))
}

// matches reports whether a list of tags has one. Compressed or not, an answer is the same.
func matches(tags, tag string) bool {
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" || "W/"+t == tag {
			return true
		}
	}
	return false
}
