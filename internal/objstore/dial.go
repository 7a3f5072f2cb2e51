package objstore

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"gopkg.in/ini.v1"
)

// Client talks to one server. It is safe for concurrent use.
type Client struct {
	api        *minio.Client
	counts     *counts
	encrypt    encrypt.ServerSide // nil: the bucket's default
	timeout    time.Duration      // a request without any byte for so long is stuck
	limit      time.Duration      // time limit of a request, with all its retries
	lastNotice atomic.Int64       // time of the last notice of a retry, ns since 1970
}

// stackmill's own environment variables.
const (
	// encryptVariable selects server-side encryption: AES256, aws:kms, or aws:kms:KEY.
	encryptVariable = "STACKMILL_S3_SSE"
	// timeoutVariable has the duration for which a request may stall.
	timeoutVariable = "STACKMILL_S3_TIMEOUT"
	// limitVariable has the duration for which a request is retried.
	limitVariable = "STACKMILL_S3_RETRY"
	// styleVariable says how URLs name the bucket: path or virtual (in the host name).
	styleVariable = "STACKMILL_S3_STYLE"
)

// Shared returns the client that the environment describes, the same one at every call.
var Shared = sync.OnceValues(Dial)

// Dial makes the client that the environment describes, with the variables of other S3 programs:
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_CA_BUNDLE;
// credentials from AWS_ACCESS_KEY_ID, the files of AWS_PROFILE, a web identity, the container or
// the instance. It sends no request yet.
func Dial() (*Client, error) {
	c := &Client{counts: &counts{}}
	profile := readProfile()
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), profile.value("endpoint_url"))
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile.value("region"))
	host, secure, lookup := "s3.amazonaws.com", true, minio.BucketLookupAuto
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("AWS_ENDPOINT_URL: %q is not the address of a server (write https://HOST:PORT)", endpoint)
		}
		host, secure, lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
		region = cmp.Or(region, "us-east-1") // servers without regions accept this one
	}
	switch style := os.Getenv(styleVariable); style {
	case "":
	case "path":
		lookup = minio.BucketLookupPath
	case "virtual":
		lookup = minio.BucketLookupDNS
	default:
		return nil, fmt.Errorf("%s: %q is neither path nor virtual", styleVariable, style)
	}
	var err error
	if c.encrypt, err = encryption(os.Getenv(encryptVariable)); err != nil {
		return nil, err
	}
	if c.timeout, err = duration(timeoutVariable, time.Minute); err != nil {
		return nil, err
	}
	if c.limit, err = duration(limitVariable, 5*time.Minute); err != nil {
		return nil, err
	}
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	c.api, err = minio.New(host, &minio.Options{
		Creds: credentialsOf(region), Secure: secure, Region: region, BucketLookup: lookup, Transport: transport,
		MaxRetries: 1, // Client.retry does the retries
	})
	return c, err
}

func duration(variable string, usual time.Duration) (time.Duration, error) {
	text := os.Getenv(variable)
	if text == "" {
		return usual, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s: %q is not a duration (write 30s or 5m)", variable, text)
	}
	return d, nil
}

// encryption parses the kind of server-side encryption for written objects.
func encryption(text string) (encrypt.ServerSide, error) {
	switch key, kms := strings.CutPrefix(text, "aws:kms"); {
	case text == "":
		return nil, nil
	case text == "AES256":
		return encrypt.NewSSE(), nil
	case kms && (key == "" || strings.HasPrefix(key, ":")):
		return encrypt.NewSSEKMS(strings.TrimPrefix(key, ":"), nil)
	}
	return nil, fmt.Errorf("%s: %q is none of AES256, aws:kms, aws:kms:KEY", encryptVariable, text)
}

func (c *Client) transport() (http.RoundTripper, error) {
	t := &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: min(c.timeout, 30*time.Second)}).DialContext,
		// This timeout starts when the request has been sent, so it does not limit uploads.
		ResponseHeaderTimeout: c.timeout, TLSHandshakeTimeout: min(c.timeout, 30*time.Second), ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if bundle := os.Getenv("AWS_CA_BUNDLE"); bundle != "" {
		pem, err := os.ReadFile(bundle)
		if err != nil {
			return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
		}
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("AWS_CA_BUNDLE: %s: it has no certificate", bundle)
		}
		t.TLSClientConfig.RootCAs = roots
	}
	return &checkedTransport{&countingTransport{t, c.counts}, c.timeout}, nil
}

// credentialsOf returns credentials from the sources that other S3 programs use: environment
// variables, files, and last the cloud's own services.
func credentialsOf(region string) *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	role := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") + os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") + os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if role != "" || !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		chain = append(chain, &credentials.IAM{Region: region, Client: &http.Client{Timeout: 10 * time.Second}})
	}
	return credentials.NewChainCredentials(chain)
}

// profile is the user's profile in ~/.aws/config.
type profile struct{ section *ini.Section }

// readProfile reads the profile; it is empty if there is none.
func readProfile() profile {
	name := os.Getenv("AWS_CONFIG_FILE")
	if name == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return profile{}
		}
		name = filepath.Join(home, ".aws", "config")
	}
	file, err := ini.Load(name)
	if err != nil {
		return profile{}
	}
	who := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	section, err := file.GetSection("profile " + who)
	if err != nil {
		section, err = file.GetSection(who)
	}
	if err != nil {
		return profile{}
	}
	return profile{section}
}

func (p profile) value(key string) string {
	if p.section == nil {
		return ""
	}
	return p.section.Key(key).String()
}

// Endpoint returns the server's URL.
func (c *Client) Endpoint() string { return c.api.EndpointURL().String() }
