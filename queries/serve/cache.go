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

// Limits of the cache. It needs no expiry: an answer about one state of the store never changes.
const (
	maxCached       = 64 << 20 // bytes
	maxCachedAnswer = 8 << 20  // bytes of one answer, e.g. of a profile that pprof's pages show
)

// reply is an answer to a call.
type reply struct {
	Type     string   `json:"type"`
	Warnings []string `json:"warnings,omitempty"`
	State    string   `json:"state,omitempty"` // the state of the store's commits that it was made from
	body     *sandbox.Body
}

// answerCache keeps the most recently used answers by their tags. If an answer is being made, other requests with the
// same tag wait for it.
type answerCache struct {
	mu       sync.Mutex
	entries  map[string]*list.Element // tag -> element of order, which holds a *cacheEntry
	order    list.List                // the most recently used first
	bytes    atomic.Int64             // total size of cached answers, and of evicted ones that clients still read
	inFlight map[string]*pendingReply
}

type cacheEntry struct {
	tag string
	*reply
}

// pendingReply is an answer that is being made.
type pendingReply struct {
	done  chan struct{}
	users int // number of other requests that wait for the reply
	reply *reply
	err   error
	gone  bool // the client of the request that makes it has gone, which may be why it failed
}

func newAnswerCache() *answerCache {
	return &answerCache{entries: map[string]*list.Element{}, inFlight: map[string]*pendingReply{}}
}

// get returns the answer with a tag. If it is neither cached nor being made, get calls work to make it. The caller
// must release the answer's body.
func (k *answerCache) get(ctx context.Context, tag string, work func() (*reply, error)) (*reply, error) {
	for {
		k.mu.Lock()
		if e := k.entries[tag]; e != nil {
			k.order.MoveToFront(e)
			e.Value.(*cacheEntry).body.Share(1)
			k.mu.Unlock()
			return e.Value.(*cacheEntry).reply, nil
		}
		p := k.inFlight[tag]
		if p == nil {
			p = &pendingReply{done: make(chan struct{})}
			k.inFlight[tag] = p
			k.mu.Unlock()
			k.make(ctx, tag, p, work)
			return p.reply, p.err
		}
		p.users++
		k.mu.Unlock()
		select {
		case <-p.done:
			if p.err == nil {
				return p.reply, nil
			}
			// The other request may have failed because its client has gone: try again for this one.
			if ctx.Err() == nil && !p.gone && StatusOf(p.err) < http.StatusInternalServerError {
				return nil, p.err
			}
		case <-ctx.Done():
			k.leave(p)
			return nil, context.Cause(ctx)
		}
	}
}

// leave stops waiting for an answer that another request makes.
func (k *answerCache) leave(p *pendingReply) {
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

// make calls work, hands its answer to the requests that wait for it, and caches it.
func (k *answerCache) make(ctx context.Context, tag string, p *pendingReply, work func() (*reply, error)) {
	p.err = fmt.Errorf("internal error: the request was abandoned")
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.inFlight, tag)
		if p.err == nil {
			p.reply.body.Share(p.users)
			k.store(tag, p.reply)
		}
		close(p.done)
	}()
	p.reply, p.err = work()
	p.gone = ctx.Err() != nil
}

// store caches an answer, unless it is too large, and evicts the least recently used ones.
func (k *answerCache) store(tag string, r *reply) {
	if r.body.Size > maxCachedAnswer {
		return
	}
	text, err := r.body.Bytes()
	if err != nil {
		return
	}
	kept := *r
	kept.body = sandbox.NewBody(text)
	kept.body.OnRelease(func() { k.bytes.Add(-kept.body.Size) }) // clients may still read it after its eviction
	k.entries[tag] = k.order.PushFront(&cacheEntry{tag, &kept})
	k.bytes.Add(kept.body.Size)
	for k.bytes.Load() > maxCached && k.order.Len() > 0 {
		last := k.order.Remove(k.order.Back()).(*cacheEntry)
		delete(k.entries, last.tag)
		last.body.Release()
	}
}

// tag returns the ETag of an answer. It depends on the store's commits, the program's version and the call.
func (c *call) tag(state, version string) string {
	return fmt.Sprintf("W/%q", cachekey.Hash(state, schema.StoreVersion, version, c.method, c.path, c.name, c.values))
}

// matches reports whether a list of ETags contains tag, with or without the prefix W/. "*" matches nothing, because
// whether an answer exists is unknown before it is made.
func matches(tags, tag string) bool {
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t == tag || "W/"+t == tag {
			return true
		}
	}
	return false
}
