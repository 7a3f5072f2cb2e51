package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"stackmill/fault"
)

// Object is what a server says of an object.
type Object struct {
	Address
	Size     int64
	ETag     string // changes with the content
	Modified time.Time
}

func objectOf(bucket string, o minio.ObjectInfo) Object {
	return Object{Address{bucket, o.Key}, o.Size, strings.Trim(o.ETag, `"`), o.LastModified}
}

// List calls yield for each object below a prefix, in the order of their keys. After
// an error the list goes on from the last key.
func (c *Client) List(ctx context.Context, below Address, yield func(Object) error) error {
	options := minio.ListObjectsOptions{Prefix: below.Key, Recursive: true, FetchOwner: new(bool)}
	if below.Key != "" {
		options.Prefix += "/"
	}
	var stop error
	err := c.tries(ctx, below, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range c.api.ListObjectsIter(ctx, below.Bucket, options) {
			if o.Err != nil {
				return o.Err
			}
			options.StartAfter = o.Key
			if strings.HasSuffix(o.Key, "/") { // a folder that a console has made
				continue
			}
			if stop = yield(objectOf(below.Bucket, o)); stop != nil {
				return nil
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // a list may be empty, but it is there
		err = fault.New(&Error{Address: below, Reason: errors.New("the server has no such list"), Lasting: true, advice: advices["NoSuchBucket"]})
	}
	return errors.Join(stop, err)
}

// Stat describes an object; the error is fs.ErrNotExist if there is none.
func (c *Client) Stat(ctx context.Context, at Address) (o Object, err error) {
	err = c.tries(ctx, at, func(ctx context.Context) error {
		info, err := c.api.StatObject(ctx, at.Bucket, at.Key, minio.StatObjectOptions{})
		o = objectOf(at.Bucket, info)
		return err
	})
	return o, err
}

// Read returns the content of an object of at most limit bytes.
func (c *Client) Read(ctx context.Context, at Address, limit int64) (content []byte, err error) {
	err = c.tries(ctx, at, func(ctx context.Context) error {
		content, err = c.content(ctx, at, limit)
		return err
	})
	return content, err
}

func (c *Client) content(ctx context.Context, at Address, limit int64) ([]byte, error) {
	body, o, err := c.open(ctx, at, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if o.Size > limit {
		return nil, &Error{Address: at, Reason: fmt.Errorf("it has %d bytes, more than %d", o.Size, limit), Lasting: true}
	}
	content := make([]byte, o.Size)
	if _, err := io.ReadFull(body, content); err != nil {
		return nil, truncated(err)
	}
	return content, nil
}

// Part sizes and how many parts of an object are read at once.
const (
	partSize  = 16 << 20
	partsOnce = 4
)

// Download reads an object into a file, in parts that are read side by side: all of it, as
// it was when it was listed. The error is ErrChanged if it has been replaced since.
func (c *Client) Download(ctx context.Context, o Object, to *os.File) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(partsOnce)
	for from := int64(0); from < o.Size; from += partSize {
		g.Go(func() error { return c.part(ctx, o, to, from, min(from+partSize, o.Size)) })
	}
	return g.Wait()
}

// Begin returns the first bytes of an object, so many at most.
func (c *Client) Begin(ctx context.Context, o Object, n int64) (content []byte, err error) {
	n = min(n, o.Size)
	if n == 0 {
		return nil, nil
	}
	err = c.tries(ctx, o.Address, func(ctx context.Context) error {
		content = make([]byte, n)
		return c.between(ctx, o, 0, n, func(body io.Reader) error {
			_, err := io.ReadFull(body, content)
			return err
		})
	})
	return content, err
}

// part reads the bytes of an object between two offsets. What came before an answer ended
// early stays.
func (c *Client) part(ctx context.Context, o Object, to *os.File, from, end int64) error {
	return c.tries(ctx, o.Address, func(ctx context.Context) error {
		return c.between(ctx, o, from, end, func(body io.Reader) error {
			n, err := io.Copy(io.NewOffsetWriter(to, from), io.LimitReader(body, end-from))
			if from += n; err == nil && from < end {
				err = io.ErrUnexpectedEOF
			}
			return err
		})
	})
}

// between asks for the bytes of an object between two offsets.
func (c *Client) between(ctx context.Context, o Object, from, end int64, read func(io.Reader) error) error {
	if from == end { // all came before the answer failed
		return nil
	}
	options := minio.GetObjectOptions{}
	err := options.SetRange(from, end-1)
	if err == nil && o.ETag != "" {
		err = options.SetMatchETag(o.ETag)
	}
	if err != nil {
		return err
	}
	body, got, err := c.open(ctx, o.Address, options)
	if minio.ToErrorResponse(err).Code == minio.PreconditionFailed || err == nil && o.ETag != "" && got.ETag != o.ETag {
		err = errors.Join(fmt.Errorf("%s: %w", o.Address, ErrChanged), closed(body))
		return err
	}
	if err != nil {
		return err
	}
	defer body.Close()
	if err := read(body); err != nil {
		return truncated(err)
	}
	return nil
}

func closed(body io.Closer) error {
	if body == nil {
		return nil
	}
	return body.Close()
}

// truncated names the error of an answer that ended early.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// open asks for an object's content.
func (c *Client) open(ctx context.Context, at Address, options minio.GetObjectOptions) (io.ReadCloser, Object, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	body, info, _, err := (&minio.Core{Client: c.api}).GetObject(ctx, at.Bucket, at.Key, options)
	if err != nil {
		cancel(nil)
		return nil, Object{}, err
	}
	r := &lively{ReadCloser: body, ctx: ctx, cancel: cancel, timeout: c.timeout}
	r.late = time.AfterFunc(c.timeout, func() { cancel(errStalled) })
	return r, objectOf(at.Bucket, info), nil
}

// lively is a body of which something has to come from time to time.
type lively struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timeout time.Duration
	late    *time.Timer
}

// Read implements io.Reader.
func (r *lively) Read(b []byte) (n int, err error) {
	n, err = r.ReadCloser.Read(b)
	r.late.Reset(r.timeout)
	if cause := context.Cause(r.ctx); err != nil && errors.Is(cause, errStalled) {
		err = cause
	}
	return n, err
}

// Close implements io.Closer.
func (r *lively) Close() error {
	r.late.Stop()
	err := r.ReadCloser.Close()
	r.cancel(nil)
	return err
}
