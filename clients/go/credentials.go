package quoin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "quoin.dev/client/internal/coordination/v1"
)

// TokenSource gives the access tokens of calls. One source may serve several clients; its methods may be called at the
// same time.
type TokenSource interface {
	// Token returns the token to send now; empty = none.
	Token(ctx context.Context) (string, error)
	// Refresh returns a new token instead of one that was refused; empty = there is none.
	Refresh(ctx context.Context, refused string) (string, error)
}

// Credentials are those of a client: Token, TokenFile, APIKey, Password or Tokens.
type Credentials interface {
	tokens(*core) (TokenSource, error)
}

type credentialsFunc func(*core) (TokenSource, error)

func (f credentialsFunc) tokens(c *core) (TokenSource, error) { return f(c) }

// Token is a token, sent unchanged.
func Token(token string) Credentials {
	return credentialsFunc(func(*core) (TokenSource, error) {
		if !isToken(token) {
			return nil, badField("token", "is not a bearer token")
		}
		return fixedToken(token), nil
	})
}

// TokenFile is a file whose first line that is not empty is the token, and which another program keeps current. It is
// read on first use, and again when the token is refused. Without a token a call fails with NoToken.
func TokenFile(path string) Credentials {
	return credentialsFunc(func(*core) (TokenSource, error) { return &fileToken{path: path}, nil })
}

// APIKey is an API key, exchanged for tokens, which are replaced at 80 % of their life.
func APIKey(key string) Credentials {
	return exchanged("api_key", key, exchangeTimeout, func(ctx context.Context, c *core) (string, int64, error) {
		response := &pb.ExchangeTokenResponse{}
		err := exchange(ctx, c, pb.AccountService_ExchangeToken_FullMethodName, &pb.ExchangeTokenRequest{ApiKey: key}, response)
		return response.AccessToken, response.ExpiresInSeconds, err
	})
}

// Password is the e-mail address and the password of a user, exchanged for tokens like an API key.
func Password(email, password string) Credentials {
	return exchanged("password", password, loginTimeout, func(ctx context.Context, c *core) (string, int64, error) {
		response := &pb.LoginResponse{}
		err := exchange(ctx, c, pb.AccountService_Login_FullMethodName, &pb.LoginRequest{Email: email, Password: password}, response)
		return response.AccessToken, response.ExpiresInSeconds, err
	})
}

// Anonymous sends no token. It is for the methods of Client.Accounts that need none: ExchangeToken, Login, VerifyEmail
// and RequestPasswordReset.
func Anonymous() Credentials { return Tokens(fixedToken("")) }

// Tokens is a source of tokens, such as one that several clients share.
func Tokens(source TokenSource) Credentials {
	return credentialsFunc(func(*core) (TokenSource, error) { return source, nil })
}

func exchanged(field, secret string, timeout time.Duration, fetch func(context.Context, *core) (string, int64, error)) Credentials {
	return credentialsFunc(func(c *core) (TokenSource, error) {
		if secret == "" {
			return nil, badField(field, "is empty")
		}
		withoutToken := &core{pool: c.pool, tokens: fixedToken(""), timeout: timeout, followsLeader: c.followsLeader, ctx: c.ctx}
		run := func(ctx context.Context) (string, time.Duration, error) {
			token, seconds, err := fetch(ctx, withoutToken)
			return token, time.Duration(seconds) * time.Second, err
		}
		return &exchangedToken{exchange: run, start: c.start, now: time.Now}, nil
	})
}

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// isToken reports whether a text can be sent as a bearer token (RFC 6750 §2.1).
func isToken(text string) bool { return tokenPattern.MatchString(text) }

type fixedToken string

func (t fixedToken) Token(context.Context) (string, error)           { return string(t), nil }
func (t fixedToken) Refresh(context.Context, string) (string, error) { return "", nil }

// A source of tokens that is printed, by any verb, shows no token.
func (fixedToken) Format(to fmt.State, _ rune)      { io.WriteString(to, "[tokens]") }
func (*fileToken) Format(to fmt.State, _ rune)      { io.WriteString(to, "[tokens]") }
func (*exchangedToken) Format(to fmt.State, _ rune) { io.WriteString(to, "[tokens]") }

type fileToken struct {
	path string

	mu    sync.Mutex
	token string
}

func (f *fileToken) Token(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != "" {
		return f.token, nil
	}
	return f.read()
}

func (f *fileToken) Refresh(_ context.Context, refused string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	token, err := f.read()
	if token == refused {
		return "", err
	}
	return token, err
}

func (f *fileToken) read() (string, error) {
	content, err := os.ReadFile(f.path)
	if err != nil {
		return "", noToken("the token file cannot be read: "+err.Error(), err)
	}
	token, _, _ := strings.Cut(strings.TrimSpace(string(content)), "\n")
	if token = strings.TrimSpace(token); !isToken(token) {
		return "", noToken("there is no bearer token in "+f.path, nil)
	}
	f.token = token
	return token, nil
}

// tokenError is the error of a source of tokens: nothing was sent.
func tokenError(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return noToken("there is no token: "+err.Error(), err)
}

func noToken(message string, cause error) *Error {
	return &Error{Code: codes.Unauthenticated, Reason: NoToken, Outcome: NotExecuted, Message: message, cause: cause}
}

const (
	// Twice as long as one member may take: two attempts fit into the default deadline of a call.
	exchangeTimeout = 4 * time.Second
	// A password is hashed before the answer, which is slow by design.
	loginTimeout = 10 * time.Second
	// Part of its life after which a token is replaced: early enough for several retries.
	refreshAt = 0.8
	// Pause before another attempt to replace a token that still works.
	refreshPause = time.Second
)

// exchangedToken fetches tokens: on first use, and again at 80 % of their life while calls continue with the old one.
// However many calls wait, one exchange is in progress. There are no timers: a client without calls fetches nothing.
type exchangedToken struct {
	exchange func(context.Context) (string, time.Duration, error)
	start    func(func(context.Context)) bool
	now      func() time.Time

	mu        sync.Mutex
	token     string
	refreshAt time.Time
	expiresAt time.Time
	notBefore time.Time
	underWay  *exchangeInProgress
}

type exchangeInProgress struct {
	done  chan struct{}
	token string
	err   error
}

func (s *exchangedToken) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	now := s.now()
	if s.token != "" && now.Before(s.expiresAt) {
		defer s.mu.Unlock()
		if !now.Before(s.refreshAt) && !now.Before(s.notBefore) {
			s.fetch()
		}
		return s.token, nil
	}
	waited := s.fetch()
	s.mu.Unlock()
	select {
	case <-waited.done:
		return waited.token, waited.err
	case <-ctx.Done():
		failure := ended(ctx, NotExecuted)
		if failure.Code == codes.DeadlineExceeded {
			failure.Message = "the deadline passed while waiting for a token"
		}
		return "", failure
	}
}

// Refresh: if several calls were refused with the same token, the first fetches a new one and the others get it.
func (s *exchangedToken) Refresh(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	if s.token == refused {
		s.token = ""
	}
	s.mu.Unlock()
	return s.Token(ctx)
}

// fetch begins an exchange, unless there is one. It must be called with the lock.
func (s *exchangedToken) fetch() *exchangeInProgress {
	if s.underWay != nil {
		return s.underWay
	}
	progress := &exchangeInProgress{done: make(chan struct{})}
	s.underWay = progress
	// The life counts from before the exchange, so that the client errs early.
	began := s.now()
	isStarted := s.start(func(ctx context.Context) {
		token, life, err := s.exchange(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.underWay = nil
		defer close(progress.done)
		if err != nil {
			progress.err = retriedElsewhere(err)
			s.notBefore = s.now().Add(refreshPause)
			return
		}
		progress.token, s.token = token, token
		s.expiresAt = began.Add(life)
		s.refreshAt = began.Add(time.Duration(float64(life) * refreshAt))
	})
	if !isStarted {
		s.underWay = nil
		progress.err = &Error{Code: codes.Canceled, Outcome: NotExecuted, Message: "the client is closed", cause: errClosed}
		close(progress.done)
	}
	return progress
}

// retriedElsewhere: if a member was only too slow, the operations that wait try again, at the next one.
func retriedElsewhere(err error) error {
	failure := asError(err)
	if failure.Code != codes.DeadlineExceeded {
		return failure
	}
	changed := *failure
	changed.Code, changed.Reason = codes.Unavailable, ""
	return &changed
}

// exchange calls a method that returns a token, once: the operations that wait for it retry themselves, elsewhere.
func exchange(ctx context.Context, c *core, method string, request, response proto.Message) error {
	p := persistence{attempts: 1, countsUnreached: true, attemptTimeout: c.timeout / 2}
	_, err := c.execute(ctx, method, request, response, &options{}, p)
	if err != nil {
		// If the token did not arrive, no one has it.
		failure := asError(err)
		return failure.with(failure.RequestID, NotExecuted)
	}
	token, isGiven := response.(interface{ GetAccessToken() string })
	if !isGiven || !isToken(token.GetAccessToken()) {
		return &Error{Code: codes.Internal, Outcome: Unknown, Message: "the answer has no token that can be used"}
	}
	return nil
}
