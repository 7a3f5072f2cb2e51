package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/minio/minio-go/v7"

	"stackmill/internal/hosterr"
)

// uploadPart is the size of a part in bytes, and the smallest size of a file that is uploaded in
// parts. A part is held in memory.
const uploadPart = 16 << 20

func (c *Client) options() minio.PutObjectOptions {
	return minio.PutObjectOptions{
		ContentType: "application/octet-stream", ServerSideEncryption: c.encrypt, PartSize: uploadPart, NumThreads: 1,
		SendContentMd5: true, // the server compares it, part by part; all servers support it
	}
}

// Put writes an object atomically. It replaces an existing one.
func (c *Client) Put(ctx context.Context, at Address, content []byte) error {
	return c.retry(ctx, at, func(ctx context.Context) error {
		_, err := c.api.PutObject(ctx, at.Bucket, at.Key, bytes.NewReader(content), int64(len(content)), c.options())
		return err
	})
}

// Upload writes a file like Put, in parts if it is large. It returns the object's ETag.
func (c *Client) Upload(ctx context.Context, at Address, path string) (etag string, err error) {
	err = c.retry(ctx, at, func(ctx context.Context) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		made, err := c.api.PutObject(ctx, at.Bucket, at.Key, f, info.Size(), c.options())
		etag = trimETag(made.ETag)
		return err
	})
	return etag, err
}

// Create writes an object unless one exists. If the existing one has other content, the error is
// ErrExists; equal content is no error, because the server may have stored the object although its
// answer was lost. Create returns the object's ETag.
func (c *Client) Create(ctx context.Context, at Address, content []byte) (etag string, err error) {
	err = c.retry(ctx, at, func(ctx context.Context) error {
		options := c.options()
		options.SetMatchETagExcept("*")
		made, err := c.api.PutObject(ctx, at.Bucket, at.Key, bytes.NewReader(content), int64(len(content)), options)
		if minio.ToErrorResponse(err).Code == minio.PreconditionFailed {
			return ErrExists
		}
		etag = trimETag(made.ETag)
		return err // a 409 if two are written concurrently: the next try decides
	})
	if err == nil {
		return etag, nil
	}
	exists := fmt.Errorf("%s: %w", at, ErrExists)
	there, rerr := c.Stat(ctx, at)
	if rerr == nil && there.Size != int64(len(content)) {
		return "", exists
	}
	var found []byte
	if rerr == nil {
		found, rerr = c.Content(ctx, there)
	}
	switch {
	case rerr == nil && bytes.Equal(found, content):
		return there.ETag, nil
	case rerr == nil:
		return "", exists
	case errors.Is(err, ErrExists) && errors.Is(rerr, fs.ErrNotExist): // removed meanwhile
		return "", exists
	case errors.Is(err, ErrExists):
		return "", rerr
	}
	return "", err
}

// removeBatch is the number of objects per delete request.
const removeBatch = 1000

// Remove removes objects. A missing object is no error.
func (c *Client) Remove(ctx context.Context, bucket string, keys []string) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), removeBatch)]
		keys = keys[len(some):]
		at := Address{bucket, some[0]}
		err := c.retry(ctx, at, func(ctx context.Context) error {
			objects := make(chan minio.ObjectInfo, len(some))
			for _, key := range some {
				objects <- minio.ObjectInfo{Key: key}
			}
			close(objects)
			var failed error
			for e := range c.api.RemoveObjects(ctx, bucket, objects, minio.RemoveObjectsOptions{}) {
				if code := minio.ToErrorResponse(e.Err).Code; code != minio.NoSuchKey {
					failed = e.Err
				}
			}
			return failed
		})
		if err != nil {
			return hosterr.New(err)
		}
	}
	return nil
}
