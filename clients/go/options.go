package quoin

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	pb "quoin.dev/client/internal/coordination/v1"
)

// Option is an option of a call. Each method says which it takes besides WithTimeout and WithRequestID, and fails with
// InvalidArgument / BadField for another one. An Option is also an option of the methods of services, such as
// Client.Locks.DescribeLock, which take these two.
type Option struct {
	grpc.EmptyCallOption
	name string
	set  func(*options)
}

// options are those of one call.
type options struct {
	err               error // the first that cannot be used
	timeout           time.Duration
	requestID         string
	ttl, lockDelay    int64 // seconds
	wait              *time.Duration
	interval          time.Duration
	session, start    int64
	ifRevision        *int64
	ifVersion         *int64
	ifSequence        *int64
	ifValue           []byte
	guard             *Guard
	owner, key, token string
	value             []byte
	serializable      pb.ReadConsistency
	items             int32
	keysOnly          bool
	previous          bool
	progress          bool
	runs              int
}

func opt(name string, set func(*options)) Option { return Option{name: name, set: set} }

const eachCall = "timeout request_id"

// gather applies the options. Those that a call takes are listed by name, besides those of each call.
func gather(call string, opts []Option, taken string) *options {
	o := &options{}
	names := strings.Fields(taken)
	for _, one := range opts {
		if one.set == nil || !slices.Contains(names, one.name) {
			o.fail(badField(one.name, fmt.Sprintf("is not an option of %s, which takes %s", call, strings.Join(names, ", "))))
			continue
		}
		one.set(o)
	}
	return o
}

// fail keeps the first error.
func (o *options) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// sent are the options that the operation itself has.
func (o *options) sent() []grpc.CallOption {
	return []grpc.CallOption{Option{name: "gathered", set: func(of *options) { of.err, of.timeout, of.requestID = o.err, o.timeout, o.requestID }}}
}

func (o *options) seconds(field string, d time.Duration) int64 {
	if d%time.Second != 0 {
		o.fail(badField(field, fmt.Sprintf("must be whole seconds, not %v", d)))
	}
	return int64(d / time.Second)
}

// milliseconds is a duration on the wire, rounded up.
func milliseconds(d time.Duration) int64 {
	return int64(math.Ceil(float64(d) / float64(time.Millisecond)))
}

// guardOf returns the guard in a request. One of another namespace would name another lock.
func (o *options) guardOf(namespace string) *pb.Guard {
	if o.guard == nil {
		return nil
	}
	if of := o.guard.Namespace; of != "" && of != namespace {
		o.fail(badField("guard", fmt.Sprintf("is of the namespace %q, and the request of %q", of, namespace)))
	}
	return o.guard.message()
}

// WithTimeout sets how long the call may take over all its attempts, more than 0. The default is that of the client. The
// deadline of the context may end it earlier.
func WithTimeout(limit time.Duration) Option {
	return opt("timeout", func(o *options) {
		if limit <= 0 {
			o.fail(badField("timeout", fmt.Sprintf("must be more than 0, not %v", limit)))
		}
		o.timeout = limit
	})
}

// WithRequestID sets the request id, a UUID; by default a random one. To repeat a call with an unknown outcome, use the
// RequestID of its error: the service executes it at most once. Calls that are several operations do not take it.
func WithRequestID(id string) Option {
	return opt("request_id", func(o *options) {
		if !uuidPattern.MatchString(id) {
			o.fail(badField("request_id", "is not a UUID"))
		}
		o.requestID = id
	})
}

// Serializable lets a read see the state of the member that answers, which may be up to 1 s old. By default it sees every
// change that was acknowledged before it began.
func Serializable() Option {
	return opt("serializable", func(o *options) { o.serializable = pb.ReadConsistency_SERIALIZABLE })
}

// WithPageSize sets the most items of a page, 1 to 1,000. The default is 100.
func WithPageSize(items int) Option {
	return opt("page_size", func(o *options) {
		if items < 1 || items > 1<<31-1 {
			o.fail(badField("page_size", fmt.Sprintf("must be 1 or more, not %d", items)))
		}
		o.items = int32(items)
	})
}

// WithPageToken continues a listing: it is the NextPageToken of the page before.
func WithPageToken(token string) Option {
	return opt("page_token", func(o *options) { o.token = token })
}

// KeysOnly leaves out the values.
func KeysOnly() Option { return opt("keys_only", func(o *options) { o.keysOnly = true }) }

// WithTTL sets the life of a key, or how long a hold or a session lasts without renewal, in whole seconds.
func WithTTL(life time.Duration) Option {
	return opt("ttl", func(o *options) { o.ttl = o.seconds("ttl", life) })
}

// WithSession makes a key end with a session of the same user.
func WithSession(id int64) Option { return opt("session_id", func(o *options) { o.session = id }) }

// IfModRevision is the revision that the key must have; 0 = it must not exist. Otherwise the call fails with
// FailedPrecondition / RevisionMismatch.
func IfModRevision(revision int64) Option {
	return opt("expected_mod_revision", func(o *options) { o.ifRevision = &revision })
}

// IfValue lets CompareAndSwap write only if the key exists with exactly this value, which may be empty.
func IfValue(value []byte) Option {
	return opt("expected_value", func(o *options) { o.ifValue = append([]byte{}, value...) })
}

// IfVersion is the version that the memory region must have, else FailedPrecondition / VersionMismatch.
func IfVersion(version int64) Option {
	return opt("expected_version", func(o *options) { o.ifVersion = &version })
}

// IfSequence is the last sequence that the event log must have; 0 = no event yet. Otherwise the call fails with
// FailedPrecondition / SequenceConflict.
func IfSequence(last int64) Option {
	return opt("expected_sequence", func(o *options) { o.ifSequence = &last })
}

// WithPrevious asks for the state of the key before the change.
func WithPrevious() Option { return opt("previous", func(o *options) { o.previous = true }) }

// WithGuard lets a write take effect only while a hold or a session is live; a hold of a read-write lock must be that of
// the writer. Otherwise the call fails with Aborted / Fenced. A Hold, a Session and a Guard can be given.
func WithGuard(of interface{ Guard() Guard }) Option {
	return opt("guard", func(o *options) {
		if of == nil {
			o.fail(badField("guard", "is nil"))
			return
		}
		guard := of.Guard()
		o.guard = &guard
	})
}

// WithOwner sets the label of a holder or a session, at most 256 bytes. The default of holds is random, the same for all
// of this process.
func WithOwner(label string) Option { return opt("owner", func(o *options) { o.owner = label }) }

// WithWait sets how long to wait for a lock while others hold it, or for events if there are none; 0 = not at all. The
// default is 30 s for a lock, and 0 for events. The time limit of the call comes on top.
func WithWait(limit time.Duration) Option { return opt("wait", func(o *options) { o.wait = &limit }) }

// WithValue sets what the hold of a Mutex, or a session, shows to others, at most 1,024 bytes.
func WithValue(value []byte) Option { return opt("value", func(o *options) { o.value = value }) }

// WithLockDelay sets how long no request gets the lock exclusively after a hold that expired or was released by force, 0
// to 60 s.
func WithLockDelay(delay time.Duration) Option {
	return opt("lock_delay", func(o *options) { o.lockDelay = o.seconds("lock_delay", delay) })
}

// WithStart begins a watch with the first change at or after this revision, by default with the next one; or it begins to
// read an event log at this sequence, by default at 1.
func WithStart(position int64) Option { return opt("start", func(o *options) { o.start = position }) }

// WithProgress yields also batches without changes, which only report the position of the watch.
func WithProgress() Option { return opt("progress", func(o *options) { o.progress = true }) }

// WithProgressInterval sets how often the member reports progress without changes, 100 ms to 60 s. After three intervals
// without a message the watch continues elsewhere. The default is 1 s.
func WithProgressInterval(interval time.Duration) Option {
	return opt("progress_interval", func(o *options) { o.interval = interval })
}

// WithIdempotencyKey stores an event only if the log does not remember this key: 1 to 1,024 bytes of UTF-8 without control
// characters. In a batch each event gets the suffix :{i}. By default an event has none, and a batch its request id.
func WithIdempotencyKey(key string) Option {
	return opt("idempotency_key", func(o *options) {
		if key == "" {
			o.fail(badField("idempotency_key", "must not be empty"))
		}
		o.key = key
	})
}

// WithMaxRuns sets the most runs of the function of Client.Transact, at least 1. The default is 10.
func WithMaxRuns(runs int) Option {
	return opt("max_attempts", func(o *options) {
		if runs < 1 {
			o.fail(badField("max_attempts", fmt.Sprintf("must be 1 or more, not %d", runs)))
		}
		o.runs = runs
	})
}
