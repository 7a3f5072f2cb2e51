package objstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/minio-go/v7"

	"stackmill/internal/hosterr"
	"stackmill/internal/ordered"
)

// Object is an object as the server describes it.
type Object struct {
	Address
	Size     int64
	ETag     string // changes with the content
	Modified time.Time
}

func objectOf(bucket string, o minio.ObjectInfo) Object {
	return Object{Address{bucket, o.Key}, o.Size, trimETag(o.ETag), o.LastModified}
}

func trimETag(etag string) string { return strings.Trim(etag, `"`) }

// errList means that a list cannot be the answer to the request.
var errList = errors.New("the server's list of objects does not fit the request")

// maxRepeats bounds the objects in a row that a server may list although it has listed them before.
const maxRepeats = 2000

// List calls yield once for each object below a prefix, in order of their keys. When a request fails,
// List continues from the last key. It fails if there are more than most objects.
func (c *Client) List(ctx context.Context, below Address, most int, yield func(Object) error) error {
	options := minio.ListObjectsOptions{Prefix: below.Key, Recursive: true, FetchOwner: new(bool)}
	if below.Key != "" {
		options.Prefix += "/"
	}
	var stop error
	seen := map[uint64]bool{}
	again := 0
	err := c.retry(ctx, below, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, pagesKey{}, &pageTracker{}))
		defer cancel()
		for o := range c.api.ListObjectsIter(ctx, below.Bucket, options) {
			if o.Err != nil {
				return o.Err
			}
			if !strings.HasPrefix(o.Key, options.Prefix) || len(o.Key) > maxKey {
				return fmt.Errorf("%w: it has the key %.80q", errList, o.Key)
			}
			options.StartAfter = o.Key
			if key := xxhash.Sum64String(o.Key); !seen[key] {
				seen[key], again = true, 0
			} else if again++; again > maxRepeats {
				return errNoProgress
			} else {
				continue
			}
			if len(seen) > most {
				return fmt.Errorf("%w: it has more than %d objects", errList, most)
			}
			if strings.HasSuffix(o.Key, "/") { // a folder made in a web console
				continue
			}
			if stop = yield(objectOf(below.Bucket, o)); stop != nil {
				return nil
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // an empty list is no error, so the bucket is missing
		err = hosterr.New(&Error{Address: below, Reason: errors.New("the bucket does not exist"), Permanent: true, advice: advices["NoSuchBucket"]})
	}
	return errors.Join(stop, err)
}

// maxKey is S3's maximum length of a key in bytes.
const maxKey = 1024

// Stat describes an object; the error is fs.ErrNotExist if there is none.
func (c *Client) Stat(ctx context.Context, at Address) (o Object, err error) {
	err = c.retry(ctx, at, func(ctx context.Context) error {
		info, err := c.api.StatObject(ctx, at.Bucket, at.Key, minio.StatObjectOptions{})
		o = objectOf(at.Bucket, info)
		return err
	})
	return o, err
}

// Read returns the content of an object of at most limit bytes.
func (c *Client) Read(ctx context.Context, at Address, limit int64) (content []byte, err error) {
	err = c.retry(ctx, at, func(ctx context.Context) error {
		content, err = c.content(ctx, Object{Address: at, Size: -1}, limit)
		return err
	})
	return content, err
}

// Content returns the content of a listed object. The error is ErrChanged if the object was
// replaced since it was listed.
func (c *Client) Content(ctx context.Context, o Object) (content []byte, err error) {
	err = c.retry(ctx, o.Address, func(ctx context.Context) error {
		content, err = c.content(ctx, o, o.Size)
		return err
	})
	return content, err
}

// content reads an object of at most limit bytes. o may lack its ETag and size.
func (c *Client) content(ctx context.Context, o Object, limit int64) ([]byte, error) {
	body, got, err := c.open(ctx, o, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	switch {
	case o.Size >= 0 && got.Size != o.Size:
		return nil, fmt.Errorf("%s: %w", o.Address, ErrChanged)
	case got.Size < 0:
		return nil, &Error{Address: o.Address, Reason: errForeign, Permanent: true}
	case got.Size > limit:
		return nil, &Error{Address: o.Address, Reason: fmt.Errorf("it has %d bytes, more than the limit of %d", got.Size, limit), Permanent: true}
	}
	// Allocate only what arrives: the size may be wrong.
	content, err := io.ReadAll(io.LimitReader(body, got.Size))
	if err == nil && int64(len(content)) < got.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, truncated(err)
	}
	return content, nil
}

// The size of a part of an object, and how many parts are read concurrently.
const (
	partSize        = 16 << 20
	partConcurrency = 4
)

// Download writes the content of a listed object to a file, in concurrent parts. The error is
// ErrChanged if the object was replaced since it was listed. Download returns the object as the
// answers describe it; if o has no ETag, all answers must have the same one.
func (c *Client) Download(ctx context.Context, o Object, to *os.File) (Object, error) {
	if o.Size == 0 {
		return o, nil
	}
	first := min(partSize, o.Size)
	got, err := c.downloadRange(ctx, o, to, 0, first)
	if err != nil {
		return o, err
	}
	o.ETag, o.Modified = got.ETag, got.Modified
	parts := int((o.Size + partSize - 1) / partSize)
	return o, ordered.ForEach(ctx, parts-1, partConcurrency, func(ctx context.Context, i int) error {
		from := int64(i+1) * partSize
		_, err := c.downloadRange(ctx, o, to, from, min(from+partSize, o.Size))
		return err
	})
}

// ReadPrefix returns the first n bytes of an object, or all of it.
func (c *Client) ReadPrefix(ctx context.Context, o Object, n int64) (content []byte, err error) {
	n = min(n, o.Size)
	if n == 0 {
		return nil, nil
	}
	err = c.retry(ctx, o.Address, func(ctx context.Context) error {
		content = make([]byte, n)
		_, err := c.readRange(ctx, o, 0, n, func(body io.Reader) error {
			_, err := io.ReadFull(body, content)
			return err
		})
		return err
	})
	return content, err
}

// downloadRange reads a range of an object. If an answer ends early, it keeps the bytes that arrived
// and requests the rest.
func (c *Client) downloadRange(ctx context.Context, o Object, to *os.File, from, end int64) (got Object, err error) {
	got = o
	err = c.retry(ctx, o.Address, func(ctx context.Context) error {
		if from == end { // all bytes arrived before the answer failed
			return nil
		}
		answered, err := c.readRange(ctx, o, from, end, func(body io.Reader) error {
			n, err := io.Copy(io.NewOffsetWriter(to, from), io.LimitReader(body, end-from))
			if from += n; err == nil && from < end {
				err = io.ErrUnexpectedEOF
			}
			return err
		})
		if err == nil || answered.ETag != "" {
			o.ETag, got = answered.ETag, answered // the rest must have the same content
		}
		return err
	})
	return got, err
}

// readRange requests a range of an object.
func (c *Client) readRange(ctx context.Context, o Object, from, end int64, read func(io.Reader) error) (got Object, err error) {
	options := minio.GetObjectOptions{}
	if err := options.SetRange(from, end-1); err != nil {
		return got, err
	}
	body, got, err := c.open(ctx, o, options)
	if err != nil {
		return got, err
	}
	defer body.Close()
	if got.Size < 0 || got.Size > end-from {
		return Object{}, fmt.Errorf("%w: it has %d bytes, but %d were requested", errAnswer, got.Size, end-from)
	}
	if err := read(body); err != nil {
		return got, truncated(err)
	}
	return got, nil
}

// truncated adds ErrTruncated to the error of an answer that ended early.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// open requests an object's content. The error is ErrChanged if its ETag is not the expected one.
func (c *Client) open(ctx context.Context, o Object, options minio.GetObjectOptions) (io.ReadCloser, Object, error) {
	if o.ETag != "" {
		if err := options.SetMatchETag(o.ETag); err != nil {
			return nil, Object{}, err
		}
	}
	body, info, _, err := (&minio.Core{Client: c.api}).GetObject(ctx, o.Bucket, o.Key, options)
	if minio.ToErrorResponse(err).Code == minio.PreconditionFailed {
		return nil, Object{}, fmt.Errorf("%s: %w", o.Address, ErrChanged)
	}
	if err != nil {
		return nil, Object{}, err
	}
	got := objectOf(o.Bucket, info)
	if got.Address = o.Address; o.ETag != "" && got.ETag != o.ETag {
		return nil, Object{}, errors.Join(fmt.Errorf("%s: %w", o.Address, ErrChanged), body.Close())
	}
	return body, got, nil
}
