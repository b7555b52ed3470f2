package quoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	pb "quoin.dev/client/internal/coordination/v1"
)

// How long a session lives without renewal by default.
const sessionTTL = 30 * time.Second

// Session is a session that its client renews until it is ended or lost. Keys that are put with WithSession(session.ID())
// end with it. All sessions of a client in one namespace are renewed by common calls.
type Session struct {
	life
	client    *Client
	namespace string
	id        int64
	endID     string

	ending  sync.Mutex
	isEnded bool // guarded by ending
}

// Session creates a session and renews it. It takes WithTTL (1 s to a day, default 30 s), WithOwner, and WithValue: what
// others can read, at most 1 KiB. It fails with NotFound / NamespaceNotFound and ResourceExhausted / Quota.
func (c *Client) Session(ctx context.Context, namespace string, opts ...Option) (*Session, error) {
	o := gather("session", opts, eachCall+" ttl owner value")
	if o.ttl == 0 {
		o.ttl = int64(sessionTTL / time.Second)
	}
	request := &pb.CreateSessionRequest{Namespace: namespace, TtlSeconds: o.ttl, Owner: o.owner, Metadata: o.value}
	response := &pb.CreateSessionResponse{}
	created, err := c.core.execute(ctx, pb.SessionService_CreateSession_FullMethodName, request, response, o, usual)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, namespace: namespace, id: response.SessionId, endID: newUUID()}
	lives := time.Duration(response.ExpiresInMs) * time.Millisecond
	s.begin(c.core, created.sent.Add(lives), func(cause *Error) *Error {
		what := fmt.Sprintf("session %d of namespace %s", s.id, namespace)
		return lossError(SessionLost, what, map[string]string{"session_id": strconv.FormatInt(s.id, 10)}, cause)
	})
	c.renewals.add(s)
	return s, nil
}

// ID is for WithSession and for conditions of transactions.
func (s *Session) ID() int64 { return s.id }

// Guard makes a write take effect only while the session lives: quoin.WithGuard(session).
func (s *Session) Guard() Guard { return Guard{Namespace: s.namespace, SessionID: s.id} }

// End ends the session, and everything that belongs to it. It reports whether it was live until then. Further calls do
// nothing, unless no member answered: then the session is not renewed any more, and End may be called again.
func (s *Session) End(ctx context.Context, opts ...Option) (bool, error) {
	o := gather("session.end", opts, "timeout")
	if s.Err() != nil {
		return false, nil
	}
	s.stop()
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.isEnded {
		return true, nil
	}
	o.requestID = s.endID
	_, err := s.client.Sessions.EndSession(ctx, &pb.EndSessionRequest{Namespace: s.namespace, SessionId: s.id}, o.sent()...)
	if errors.Is(err, SessionNotFound) {
		s.report(s.lossOf(asError(err)))
		return false, nil
	}
	s.isEnded = err == nil
	return s.isEnded, err
}

const (
	sessionsPerCall = 500
	// Part of the time until a session is due by which it may be due earlier, so that clients do not all call at once;
	// and the part after which it goes with a call for others.
	jitterShare = 0.1
	soonAt      = 0.5
	// Pause between two calls of more sessions than one may have: a member takes so many of a user in it.
	renewalCallPause = 100 * time.Millisecond
)

// renewals renew the sessions of a client: those of one namespace that are due, and those that are due soon, in one call.
// So sessions with one time to live are soon renewed together.
type renewals struct {
	mu      sync.Mutex
	waiting map[string]chan *Session // by namespace, while a renewer runs
}

type scheduled struct {
	session   *Session
	due, soon time.Time
}

func schedule(s *Session) scheduled {
	now := time.Now()
	pause := time.Duration(float64(s.Remaining()) * renewAt * (1 - jitterShare*rand.Float64()))
	pause = max(renewalPauseMin, pause)
	return scheduled{s, now.Add(pause), now.Add(time.Duration(float64(pause) * soonAt))}
}

// add renews a session, by the renewer of its namespace.
func (r *renewals) add(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = map[string]chan *Session{}
	}
	added := r.waiting[s.namespace]
	if added == nil {
		added = make(chan *Session)
		r.waiting[s.namespace] = added
		s.client.core.start(func(ctx context.Context) { s.client.renewSessions(ctx, s.namespace, added) })
	}
	select {
	case added <- s:
	case <-s.client.core.ctx.Done():
	}
}

// renewSessions renews the sessions of a namespace until the client is closed.
func (c *Client) renewSessions(ctx context.Context, namespace string, added <-chan *Session) {
	var all []scheduled
	returned := make(chan []*Session)
	for {
		all = slices.DeleteFunc(all, func(one scheduled) bool { return one.session.ended.Err() != nil })
		slices.SortFunc(all, func(one, other scheduled) int { return one.due.Compare(other.due) })
		var timer <-chan time.Time
		if len(all) > 0 {
			timer = time.After(time.Until(all[0].due))
		}
		select {
		case <-ctx.Done():
			return
		case session := <-added:
			all = append(all, schedule(session))
		case sessions := <-returned:
			for _, session := range sessions {
				all = append(all, schedule(session))
			}
		case now := <-timer:
			var together []*Session
			all = slices.DeleteFunc(all, func(one scheduled) bool {
				isDue := !one.soon.After(now) && len(together) < sessionsPerCall
				if isDue {
					together = append(together, one.session)
				}
				return isDue
			})
			c.core.start(func(ctx context.Context) {
				if again := c.renewTogether(ctx, namespace, together); again {
					select {
					case returned <- together:
					case <-ctx.Done():
					}
				}
			})
			if len(together) == sessionsPerCall {
				time.Sleep(renewalCallPause)
			}
		}
	}
}

// renewTogether makes one call, and reports whether the sessions are to be renewed again.
func (c *Client) renewTogether(ctx context.Context, namespace string, together []*Session) bool {
	request, response := &pb.RenewSessionsRequest{Namespace: namespace}, &pb.RenewSessionsResponse{}
	for _, session := range together {
		request.Sessions = append(request.Sessions, &pb.SessionReference{SessionId: session.id})
	}
	first := slices.MinFunc(together, func(one, other *Session) int { return cmp.Compare(one.Remaining(), other.Remaining()) })
	timeout, p := first.attempts()
	got, err := c.core.execute(ctx, pb.SessionService_RenewSessions_FullMethodName, request, response, &options{timeout: timeout}, p)
	if err != nil {
		failure := asError(err)
		for _, session := range together {
			session.notRenewed(failure)
		}
		// A repetition cannot help a caller without rights. The sessions last until their deadlines.
		return failure.Code != codes.PermissionDenied
	}
	remaining := map[int64]int64{}
	for _, renewed := range response.Sessions {
		remaining[renewed.SessionId] = renewed.ExpiresInMs
	}
	for _, session := range together {
		if ms := remaining[session.id]; ms > 0 {
			session.renewed(got.sent.Add(time.Duration(ms) * time.Millisecond))
		} else {
			session.lose(&Error{Code: codes.NotFound, Reason: SessionNotFound, Outcome: NotExecuted, Message: "the service has no such session of this user"})
		}
	}
	return true
}
