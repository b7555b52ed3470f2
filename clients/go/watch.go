package quoin

import (
	"context"
	"iter"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "quoin.dev/client/internal/coordination/v1"
)

const (
	progressInterval = time.Second
	// Intervals without a message after which a stream is abandoned.
	silentIntervals = 3
)

// WatchBatch has changes that come together: all of one or more revisions; a revision is never divided.
type WatchBatch[Event any] struct {
	// Events are in order; none = progress.
	Events []Event
	// Revision: everything up to it has been delivered. A later watch that starts at this + 1 misses and repeats nothing.
	Revision int64
}

// Watch is an established watch of *KeyEvent or *LockEvent: changes as they happen, each once and in order, over any number
// of streams. If a member goes away, it continues at another one. It lasts until Close, the end of a loop over Batches, or
// the end of its context.
type Watch[Event any] struct {
	batches  iter.Seq2[WatchBatch[Event], error]
	revision func() int64
	close    func()
}

// Batches yields the changes, one batch after the other. It ends after an error, and at Close without one; the end of the
// loop closes the watch.
func (w *Watch[Event]) Batches() iter.Seq2[WatchBatch[Event], error] { return w.batches }

// Revision: everything up to it has been delivered, with or without changes.
func (w *Watch[Event]) Revision() int64 { return w.revision() }

// Close ends the watch, also while it is read.
func (w *Watch[Event]) Close() { w.close() }

type watchMessage[Event, M any] interface {
	message[M]
	GetEvents() []Event
	GetCreated() bool
	GetPartial() bool
	GetRevision() int64
}

// WatchKeys watches the keys with a prefix, and returns when the watch is active. It takes WithStart, WithPrevious,
// KeysOnly, WithProgress and WithProgressInterval. It fails with OutOfRange / Compacted if the history from the start on is
// no longer kept: list the keys, and watch from the revision of the list + 1.
func (c *Client) WatchKeys(ctx context.Context, namespace, prefix string, opts ...Option) (*Watch[*KeyEvent], error) {
	return c.watchKeys(ctx, &pb.WatchKeysRequest{Namespace: namespace, Prefix: prefix}, opts)
}

// WatchKey watches one key, like WatchKeys.
func (c *Client) WatchKey(ctx context.Context, namespace, key string, opts ...Option) (*Watch[*KeyEvent], error) {
	return c.watchKeys(ctx, &pb.WatchKeysRequest{Namespace: namespace, Key: &key}, opts)
}

func (c *Client) watchKeys(ctx context.Context, request *pb.WatchKeysRequest, opts []Option) (*Watch[*KeyEvent], error) {
	o := gather("watch.keys", opts, "timeout start previous keys_only progress progress_interval")
	request.IncludePrevious, request.KeysOnly, request.ProgressIntervalMs = o.previous, o.keysOnly, milliseconds(o.interval)
	at := func(position int64) proto.Message {
		next := proto.Clone(request).(*pb.WatchKeysRequest)
		next.StartRevision = position
		return next
	}
	return openWatch[*KeyEvent, pb.WatchKeysResponse](ctx, c.core, pb.WatchService_WatchKeys_FullMethodName, at, o)
}

// WatchLocks watches the holds of locks of all kinds with a prefix, in the same way as keys. It takes WithStart,
// WithProgress and WithProgressInterval.
func (c *Client) WatchLocks(ctx context.Context, namespace, prefix string, opts ...Option) (*Watch[*LockEvent], error) {
	o := gather("watch.locks", opts, "timeout start progress progress_interval")
	at := func(position int64) proto.Message {
		return &pb.WatchLocksRequest{
			Namespace: namespace, NamePrefix: prefix, StartRevision: position, ProgressIntervalMs: milliseconds(o.interval),
		}
	}
	return openWatch[*LockEvent, pb.WatchLocksResponse](ctx, c.core, pb.WatchService_WatchLocks_FullMethodName, at, o)
}

func openWatch[Event, M any, P watchMessage[Event, M]](ctx context.Context, c *core, method string, at func(int64) proto.Message, o *options) (*Watch[Event], error) {
	if o.err != nil {
		return nil, o.err
	}
	interval, timeout := progressInterval, c.timeout
	if o.interval != 0 {
		interval = o.interval
	}
	if o.timeout != 0 {
		timeout = o.timeout
	}
	source := streamSource[M]{
		title: "watch", method: method, silence: silentIntervals * interval,
		request: at,
		behind:  func(read *M) int64 { return P(read).GetRevision() + 1 },
	}
	reader := &watchReader[Event, M, P]{stream: newStream[M, P](ctx, c, source, o.start), progress: o.progress}
	var err error
	if reader.first, err = reader.stream.next(attemptsMax, time.Now().Add(timeout)); err != nil {
		reader.stream.close()
		return nil, err
	}
	return &Watch[Event]{batches: sequence(reader.stream, reader.next), revision: reader.revision, close: reader.stream.close}, nil
}

// watchReader makes batches of messages.
type watchReader[Event, M any, P watchMessage[Event, M]] struct {
	mu       sync.Mutex // several loops may share it
	stream   *continuedStream[M, P]
	progress bool
	// The message that has established the watch, and the changes of a revision that is not complete yet.
	first *M
	begun []Event
}

func (w *watchReader[Event, M, P]) revision() int64 { return w.stream.position.Load() - 1 }

func (w *watchReader[Event, M, P]) next() (WatchBatch[Event], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		read := w.first
		if w.first = nil; read == nil {
			var err error
			if read, err = w.stream.next(unlimited, time.Time{}); err != nil {
				return WatchBatch[Event]{}, err
			}
		}
		message := P(read)
		if message.GetCreated() {
			w.begun = nil // Another stream begins its revision again.
		}
		w.begun = append(w.begun, message.GetEvents()...)
		if message.GetPartial() {
			continue
		}
		events := w.begun
		if w.begun = nil; len(events) > 0 || w.progress {
			return WatchBatch[Event]{Events: events, Revision: w.revision()}, nil
		}
	}
}
