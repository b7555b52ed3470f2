package quoin

import (
	"context"
	"fmt"
	"iter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "quoin.dev/client/internal/coordination/v1"
)

// Log is an event log. Client.Logs has its other operations, such as CreateLog and UpdateLog. All methods fail with
// NotFound / LogNotFound.
type Log struct {
	client *Client
	id     string
}

// Log returns the event log with this id. It sends no request.
func (c *Client) Log(id string) *Log { return &Log{c, id} }

// FindLog returns the event log of this name in a namespace. It fails with NotFound / LogNotFound.
func (c *Client) FindLog(ctx context.Context, namespace, name string, opts ...Option) (*Log, error) {
	o := gather("logs.find", opts, eachCall)
	if name == "" {
		return nil, badField("name", "must not be empty")
	}
	page, err := c.Logs.ListLogs(ctx, &pb.ListLogsRequest{Namespace: namespace, Name: name}, o.sent()...)
	if err != nil {
		return nil, err
	}
	if len(page.Logs) == 0 {
		message := fmt.Sprintf("there is no event log named %q in the namespace %s", name, namespace)
		return nil, &Error{Code: codes.NotFound, Reason: LogNotFound, Outcome: NotExecuted, Message: message}
	}
	return c.Log(page.Logs[0].LogId), nil
}

// ID is the id of the log, for transactions.
func (l *Log) ID() string { return l.id }

// Appended is the answer to an append.
type Appended struct {
	// Sequences are those of the events, in their order. None if the answer belongs to a repeated attempt and was too large
	// to be kept: that takes hundreds of gaps between them.
	Sequences []int64
	// LastSequence is the greatest of them.
	LastSequence int64
	// Replayed: all were already stored, perhaps by an earlier attempt.
	Replayed bool
}

// Append appends an event of at most 1 MiB. It takes WithIdempotencyKey, IfSequence and WithGuard.
func (l *Log) Append(ctx context.Context, payload []byte, opts ...Option) (*Appended, error) {
	o := gather("log.append", opts, eachCall+" idempotency_key expected_sequence guard")
	var header metadata.MD
	got, err := l.client.Logs.AppendEvent(ctx, &pb.AppendEventRequest{
		LogId: l.id, Payload: payload, IdempotencyKey: o.key, ExpectedSequence: o.ifSequence, Guard: o.appendGuard(),
	}, append(o.sent(), grpc.Header(&header))...)
	if err != nil {
		return nil, err
	}
	return &Appended{[]int64{got.Sequence}, got.Sequence, len(header["replayed"]) > 0}, nil
}

// AppendBatch appends all events or none: 1 to 10,000 of them, in a request of at most 4 MiB. It takes the options of
// Append.
func (l *Log) AppendBatch(ctx context.Context, payloads [][]byte, opts ...Option) (*Appended, error) {
	o := gather("log.append_batch", opts, eachCall+" idempotency_key expected_sequence guard")
	if o.requestID == "" {
		o.requestID = newUUID()
	}
	if o.key == "" {
		o.key = o.requestID
	}
	request := &pb.AppendEventsRequest{
		LogId: l.id, Payloads: payloads, IdempotencyKey: o.key, ExpectedSequence: o.ifSequence, Guard: o.appendGuard(),
	}
	if size := proto.Size(request); size > sentBytesMax {
		tooLarge := badField("payloads", fmt.Sprintf("make a request of %d bytes; at most %d are allowed", size, sentBytesMax))
		tooLarge.Reason = TooLarge
		return nil, tooLarge
	}
	var header metadata.MD
	got, err := l.client.Logs.AppendEvents(ctx, request, append(o.sent(), grpc.Header(&header))...)
	if err != nil {
		return nil, err
	}
	appended := &Appended{LastSequence: got.LastSequence, Replayed: len(header["replayed"]) > 0}
	for _, run := range got.Runs {
		for at := range run.Count {
			appended.Sequences = append(appended.Sequences, run.FirstSequence+at)
		}
	}
	return appended, nil
}

// appendGuard is the guard of an append, which names a namespace.
func (o *options) appendGuard() *pb.AppendGuard {
	if o.guard == nil {
		return nil
	}
	if o.guard.Namespace == "" {
		o.fail(badField("guard", "must name its namespace"))
	}
	guard := o.guard.message()
	return &pb.AppendGuard{
		Namespace: o.guard.Namespace, LockName: guard.LockName, FencingToken: guard.FencingToken, Rw: guard.Rw, SessionId: guard.SessionId,
	}
}

// Read reads a page of events, of at most 1 MiB, or one larger event. It takes WithStart, WithPageSize, and WithWait, in
// whole seconds.
func (l *Log) Read(ctx context.Context, opts ...Option) (*ReadEventsResponse, error) {
	o := gather("log.read", opts, eachCall+" start page_size wait serializable")
	request := &pb.ReadEventsRequest{LogId: l.id, FromSequence: max(1, o.start), PageSize: o.items, Consistency: o.serializable}
	if o.start < 0 {
		request.FromSequence = o.start
	}
	if o.wait != nil {
		request.WaitSeconds = o.seconds("wait", *o.wait)
	}
	return l.client.Logs.ReadEvents(ctx, request, o.sent()...)
}

// Tail follows the log: existing and new events, each once and in order, until the loop or the context ends. If a member
// goes away, it continues after the last event at another one. Events that retention has removed are left out. It takes
// WithStart.
func (l *Log) Tail(ctx context.Context, opts ...Option) iter.Seq2[*LogEvent, error] {
	return func(yield func(*LogEvent, error) bool) {
		o := gather("log.tail", opts, "start")
		if o.err != nil {
			yield(nil, o.err)
			return
		}
		source := streamSource[pb.TailEventsResponse]{
			title: "tail", method: pb.EventLogService_TailEvents_FullMethodName,
			request: func(position int64) proto.Message {
				return &pb.TailEventsRequest{LogId: l.id, FromSequence: position}
			},
			behind: func(read *pb.TailEventsResponse) int64 {
				if len(read.Events) == 0 {
					return 0
				}
				return read.Events[len(read.Events)-1].Sequence + 1
			},
		}
		start := o.start
		if start == 0 {
			start = 1
		}
		s := newStream[pb.TailEventsResponse](ctx, l.client.core, source, start)
		read := func() (*pb.TailEventsResponse, error) { return s.next(unlimited, time.Time{}) }
		for message, err := range sequence(s, read) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, event := range message.Events {
				if !yield(event, nil) {
					return
				}
			}
		}
	}
}
