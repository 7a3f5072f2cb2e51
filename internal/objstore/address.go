// Package objstore reads and writes objects of S3-compatible storage. It retries requests that may
// succeed later, within a time limit. Every error names the object, the reason and what to do.
//
// Start reading with retry.go, which makes all requests; read.go and write.go have the transfers.
package objstore

import (
	"fmt"
	"path"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// Scheme begins the URLs of objects.
const Scheme = "s3://"

// Address is a bucket, and a key or key prefix in it.
type Address struct {
	Bucket string
	Key    string // without slashes at either end; empty for the whole bucket
}

// Is reports whether a text is an S3 URL rather than a path.
func Is(text string) bool { return strings.HasPrefix(text, Scheme) }

// Parse parses s3://BUCKET/KEY.
func Parse(text string) (a Address, err error) {
	rest, ok := strings.CutPrefix(text, Scheme)
	a.Bucket, a.Key, _ = strings.Cut(rest, "/")
	a.Key = strings.Trim(a.Key, "/")
	if !ok || a.Bucket == "" {
		return a, fmt.Errorf("%s: not an S3 address (write s3://BUCKET/PREFIX)", text)
	}
	if err := s3utils.CheckValidBucketName(a.Bucket); err != nil {
		return a, fmt.Errorf("%s: %q cannot be the name of a bucket: %w (3 to 63 lower-case letters, digits, dots and hyphens)", text, a.Bucket, err)
	}
	if a.Key != "" && path.Clean("/"+a.Key) != "/"+a.Key {
		return a, fmt.Errorf("%s: its key has empty parts, or . or .. (write s3://BUCKET/PREFIX)", text)
	}
	return a, nil
}

func (a Address) String() string { return Scheme + path.Join(a.Bucket, a.Key) }

// Join returns the address of a path below a.
func (a Address) Join(parts ...string) Address {
	a.Key = path.Join(append([]string{a.Key}, parts...)...)
	return a
}
