package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/internal/ordered"
	"stackmill/schema/storedir"
)

// remoteRecording lists the S3 objects of one recording: one object, or every object under an .er
// prefix.
type remoteRecording struct {
	name    objstore.Address // the prefix of the objects' keys
	objects []objstore.Object
}

// stagedBytes bounds the local copies of recordings that are read at the same time. A larger
// recording is read alone. Those below largeInput are not counted: there are at most --jobs of
// them.
const stagedBytes = 4 << 30

// maxRemoteLookups is how many addresses are examined at the same time.
const maxRemoteLookups = 16

// headBytes is how much of an object is needed to recognize a recording: magic bytes, or the first
// fields of a compressed profile.
const headBytes = 64 << 10

// The suffixes of gprofng's experiments, and of its files that list experiments.
const (
	experimentSuffix = ".er"
	groupSuffix      = ".erg"
)

// discoverRemote returns the recordings at each address. Below a prefix, they are sorted by name.
func discoverRemote(ctx context.Context, addresses []string, recursive bool) [][]input {
	found := make([][]input, len(addresses))
	each := context.WithoutCancel(ctx) // so that every address has a result
	_ = ordered.ForEach(each, len(addresses), maxRemoteLookups, func(_ context.Context, i int) (err error) {
		if text := addresses[i]; objstore.Is(text) {
			if found[i], err = findRemote(ctx, text, recursive); err != nil {
				found[i] = append(found[i], input{path: text, err: err})
			}
		}
		return nil
	})
	return found
}

// maxObjects bounds the number of objects listed below an address.
const maxObjects = 4 << 20

// findRemote finds the recordings at an address: an object, an experiment, or everything below.
func findRemote(ctx context.Context, text string, recursive bool) (list []input, err error) {
	client, err := objstore.Shared()
	if err != nil {
		return nil, hosterr.New(err)
	}
	a, err := objstore.Parse(text)
	if err != nil {
		return nil, err
	}
	if a.Key != "" && path.Ext(a.Key) != experimentSuffix {
		o, err := client.Stat(ctx, a)
		if err == nil {
			return []input{remoteInput(&remoteRecording{a, []objstore.Object{o}})}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var all []*remoteRecording
	deeper := ""
	err = client.List(ctx, a, maxObjects, func(o objstore.Object) error {
		name, deep := recordingName(a, o.Address)
		if deep && !recursive {
			if path.Ext(name.Key) == experimentSuffix {
				deeper = name.String()
			}
			return nil
		}
		if last := len(all) - 1; last < 0 || all[last].name != name {
			all = append(all, &remoteRecording{name: name})
		}
		e := all[len(all)-1]
		e.objects = append(e.objects, o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, err = recordings(ctx, client, all)
	switch {
	case err != nil || len(list) > 0:
		return list, err
	case len(all) == 0 && deeper == "":
		return nil, fmt.Errorf("%s: %w", a, fs.ErrNotExist)
	case deeper != "":
		return nil, fmt.Errorf("%w: but there is one further below, %s (--recursive looks there)", ErrNoRecording, deeper)
	}
	return nil, ErrNoRecording
}

// recordingName returns the address of the recording that the object o may belong to. deep says
// that the recording is not directly below the address `below`, but deeper.
func recordingName(below, o objstore.Address) (name objstore.Address, deep bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(o.Key, below.Key), "/")
	if path.Ext(below.Key) == experimentSuffix {
		return below, false
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts[:len(parts)-1] {
		if path.Ext(part) == experimentSuffix {
			return below.Join(parts[:i+1]...), i > 0
		}
	}
	return o, len(parts) > 1
}

// recordings returns those candidates that are recordings: experiments by their names, others by
// their first bytes.
func recordings(ctx context.Context, client *objstore.Client, all []*remoteRecording) (list []input, err error) {
	is := make([]bool, len(all))
	err = ordered.ForEach(ctx, len(all), maxRemoteLookups, func(ctx context.Context, i int) (err error) {
		e := all[i]
		if path.Ext(e.name.Key) == experimentSuffix && len(e.objects) > 0 && e.objects[0].Address != e.name {
			is[i] = true
			return nil
		}
		is[i], err = isRemoteRecording(ctx, client, e.objects[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if is[i] {
			list = append(list, remoteInput(e))
		}
	}
	return list, nil
}

// isRemoteRecording reports whether an object looks like a recording, by its name and first bytes.
func isRemoteRecording(ctx context.Context, client *objstore.Client, o objstore.Object) (bool, error) {
	head, err := client.ReadPrefix(ctx, o, headBytes)
	if err != nil {
		return false, err
	}
	return looksLikeRecording(path.Base(o.Key), head)
}

// remoteInput returns the input of a recording. Its state is a hash of the names, sizes and ETags
// of the objects.
func remoteInput(e *remoteRecording) input {
	h := xxhash.New()
	in := input{path: e.name.String(), from: e}
	slices.SortFunc(e.objects, func(a, b objstore.Object) int { return strings.Compare(a.Key, b.Key) })
	for _, o := range e.objects {
		name := strings.TrimPrefix(o.Key, e.name.Key)
		fmt.Fprintf(h, "%q %d %q\n", name, o.Size, o.ETag)
		in.count(name, o.Size)
	}
	in.state = fmt.Sprintf("%016x", h.Sum64())
	if path.Ext(e.name.Key) == groupSuffix {
		in.err = fmt.Errorf("%w: a group cannot be read from S3 (name the prefix of its experiments)", ErrNoRecording)
	}
	return in
}

// bring copies an input to a local folder, which exists until done is called. It sets the path to
// read (src.at) and the decoder. The error is a host error, or says that an object is gone.
func (in *ingest) bring(ctx context.Context, src *input) (done func(), err error) {
	room := int64(0)
	if src.bytes >= largeInput {
		room = min(src.bytes, stagedBytes)
		if err := in.staging.Acquire(ctx, room); err != nil {
			return nil, hosterr.New(err)
		}
	}
	scratch, err := storedir.NewStaging(in.options.Store)
	done = func() {
		if scratch != nil {
			scratch.Remove()
		}
		in.staging.Release(room)
	}
	if err == nil {
		src.at = filepath.Join(scratch.Dir, src.from.plainName())
		err = src.from.bring(ctx, src.at)
	}
	if err == nil && decoderOf(src.at) == nil { // an object may be compressed
		var c *compressedFile
		if c, src.err = compressedRecording(src.at); c != nil {
			src.at = filepath.Join(scratch.Dir, "plain-"+c.plainName())
			err = c.bring(ctx, src.at)
		}
	}
	if err != nil {
		done()
		if errors.As(err, new(*os.PathError)) && !errors.Is(err, fs.ErrNotExist) {
			err = hosterr.New(err)
		}
		return nil, err
	}
	if src.decoder = decoderOf(src.at); src.decoder == nil && src.err == nil {
		if src.err = probe(src.at); src.err == nil {
			src.err = ErrNoRecording
		}
	}
	return done, nil
}

// plainName implements origin.
func (e *remoteRecording) plainName() string { return path.Base(e.name.Key) }

// bring implements origin.
func (e *remoteRecording) bring(ctx context.Context, to string) error {
	client, err := objstore.Shared()
	if err != nil {
		return hosterr.New(err)
	}
	return e.download(ctx, client, to)
}

// maxDownloads is how many objects of a recording are read at the same time.
const maxDownloads = 8

// download copies the objects to files with the same modification times.
func (e *remoteRecording) download(ctx context.Context, client *objstore.Client, to string) error {
	files := make([]string, len(e.objects))
	for i, o := range e.objects {
		// The rest of a key may be invalid as a file path, or be the path of another key's file.
		within := strings.TrimPrefix(o.Key, e.name.Key)
		if within != "" && (path.Clean(within) != within || !filepath.IsLocal(within[1:])) {
			return fmt.Errorf("%s: %w: no file of a recording can have that name", o.Address, ErrNoRecording)
		}
		files[i] = filepath.Join(to, filepath.FromSlash(within))
	}
	return ordered.ForEach(ctx, len(files), maxDownloads, func(ctx context.Context, i int) error {
		file, o := files[i], e.objects[i]
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		_, err = client.Download(ctx, o, f)
		if err = errors.Join(err, f.Close()); err != nil {
			if errors.Is(err, objstore.ErrChanged) {
				err = hosterr.New(err)
			}
			return err
		}
		return os.Chtimes(file, o.Modified, o.Modified)
	})
}
