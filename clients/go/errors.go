package quoin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Reason is the reason of an error, for programs. It is an error itself, for errors.Is(err, quoin.KeyNotFound). A member of
// a newer release may have further ones.
type Reason string

func (r Reason) Error() string { return string(r) }

// Outcome is the certain effect of a failed operation, over all its attempts.
type Outcome string

const (
	// NotExecuted: the operation changed nothing, and never will.
	NotExecuted Outcome = "not-executed"
	// Unknown: it may have been executed, or may still be. The same call with the RequestID of the error, within 300 s,
	// returns the real outcome.
	Unknown Outcome = "unknown"
)

// Error is the error of every operation of this package: of the service, the network or an argument. It never contains
// a token, an API key or a password.
//
// errors.Is compares it with a [Reason]: errors.Is(err, quoin.KeyNotFound). An operation that was cancelled, or ended by
// its deadline, is also context.Canceled or context.DeadlineExceeded.
type Error struct {
	// Code is the status of gRPC.
	Code codes.Code
	// Reason is for programs; empty = none, for example because no member answered.
	Reason Reason
	// Outcome is the certain effect over all attempts.
	Outcome Outcome
	// Message is for people, and may change.
	Message string
	// Details are facts by name, such as "field", "mod_revision" or "compact_revision".
	Details map[string]string
	// RequestID is that of all attempts; empty = the operation did not get that far.
	RequestID string
	// RetryDelay is the pause before a retry that the service wants; 0 = none.
	RetryDelay time.Duration
	// LeaderEndpoint is the address of the leader, if the member that answered knows it.
	LeaderEndpoint string

	cause error
}

func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("quoin: %s (%s)", e.Message, e.Reason)
	}
	return fmt.Sprintf("quoin: %s (%s)", e.Message, e.Code)
}

// Retryable reports whether the same call, with the RequestID of this error, may succeed later although nothing else
// has changed.
func (e *Error) Retryable() bool {
	switch {
	case e.Code == codes.Unavailable, e.Code == codes.DeadlineExceeded:
		return true
	}
	return e.Reason == RateLimited || e.Reason == TooManyStreams
}

// CompactRevision is, for the reason Compacted, the oldest revision at which a watch can start; 0 = not known.
func (e *Error) CompactRevision() int64 {
	revision, _ := strconv.ParseInt(e.Details["compact_revision"], 10, 64)
	return revision
}

// Is reports whether the target is the reason of this error, or the error of a context that stands for its code.
func (e *Error) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.Code == codes.Canceled
	case context.DeadlineExceeded:
		return e.Code == codes.DeadlineExceeded
	}
	reason, isReason := target.(Reason)
	return isReason && reason == e.Reason && reason != ""
}

// Unwrap returns what caused the error.
func (e *Error) Unwrap() error { return e.cause }

// GRPCStatus lets status.FromError of grpc-go read this error.
func (e *Error) GRPCStatus() *status.Status { return status.New(e.Code, e.Message) }

// with returns a copy with the request id and the outcome over all attempts.
func (e *Error) with(requestID string, outcome Outcome) *Error {
	changed := *e
	changed.RequestID, changed.Outcome = requestID, outcome
	return &changed
}

// asError returns any error as one of this package.
func asError(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return &Error{Code: codes.Unknown, Outcome: Unknown, Message: err.Error(), cause: err}
}

func badField(field, problem string) *Error {
	return &Error{
		Code: codes.InvalidArgument, Reason: BadField, Outcome: NotExecuted,
		Message: field + " " + problem, Details: map[string]string{"field": field},
	}
}

// ended is the error of an operation whose context has ended, or whose client is closed.
func ended(ctx context.Context, outcome Outcome) *Error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errClosed):
		return &Error{Code: codes.Canceled, Outcome: outcome, Message: "the client is closed", cause: cause}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return late("no answer in time", outcome)
	}
	return &Error{Code: codes.Canceled, Outcome: outcome, Message: "the operation was cancelled", cause: errors.Join(ctx.Err(), cause)}
}

func late(message string, outcome Outcome) *Error {
	return &Error{Code: codes.DeadlineExceeded, Reason: Deadline, Outcome: outcome, Message: message, cause: context.DeadlineExceeded}
}

// The first words of grpc-go for a stream that ended without a status, which it calls Internal: the member, or a device
// on the way, went away. Members end every call with their own status.
var lostPrefixes = []string{
	"stream terminated by RST_STREAM with error code: NO_ERROR",
	"stream terminated by RST_STREAM with error code: INTERNAL_ERROR",
	"server closed the stream without sending trailers",
}

// Codes that are refusals if nothing else is known. All others may come after the execution.
var refusalCodes = map[codes.Code]bool{
	codes.InvalidArgument: true, codes.NotFound: true, codes.AlreadyExists: true, codes.PermissionDenied: true,
	codes.FailedPrecondition: true, codes.Aborted: true, codes.OutOfRange: true, codes.Unimplemented: true,
	codes.Unauthenticated: true,
}

// isAnswer reports whether trailers come from a member: it adds them to each refusal.
func isAnswer(trailers metadata.MD) bool {
	return len(trailers["outcome"]) > 0 || len(trailers["error-reason"]) > 0
}

// fromStatus reads the error of a call.
func fromStatus(err error, trailers metadata.MD, endpoint string, wasSent bool) *Error {
	told := status.Convert(err)
	result := &Error{Code: told.Code(), Message: told.Message(), Outcome: Unknown, cause: err}
	for _, detail := range told.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			result.Reason, result.Details = Reason(detail.Reason), maps.Clone(detail.Metadata)
		case *errdetails.RetryInfo:
			result.RetryDelay = detail.GetRetryDelay().AsDuration()
		}
	}
	if reason := first(trailers, "error-reason"); reason != "" {
		result.Reason = Reason(reason)
	}
	result.LeaderEndpoint = first(trailers, "leader-endpoint")
	if outcome := Outcome(first(trailers, "outcome")); outcome == NotExecuted || outcome == Unknown {
		result.Outcome = outcome
	} else if refusalCodes[result.Code] || !wasSent {
		result.Outcome = NotExecuted
	}
	if isAnswer(trailers) {
		return result
	}
	switch {
	case result.Code == codes.DeadlineExceeded:
		return late("no answer from "+endpoint+" in time", result.Outcome)
	case !wasSent && result.Code == codes.Unavailable:
		return noConnection(endpoint, result.Message, err)
	case result.Code == codes.Unavailable, result.Code == codes.Internal && hasPrefix(result.Message, lostPrefixes):
		result.Code = codes.Unavailable
		result.Message = fmt.Sprintf("the connection to %s was lost before the answer: %s", endpoint, result.Message)
	}
	return result
}

func noConnection(endpoint, why string, cause error) *Error {
	why = strings.TrimPrefix(why, "connection error: desc = ")
	return &Error{
		Code: codes.Unavailable, Outcome: NotExecuted, Message: fmt.Sprintf("no connection to %s: %s", endpoint, why),
		Details: map[string]string{"address": endpoint}, cause: cause,
	}
}

// isUnreached reports whether an attempt reached no member. Such attempts load no member and do not count, because a
// Service may have no endpoint for a while.
func isUnreached(e *Error) bool {
	return e.Code == codes.Unavailable && e.Reason == "" && e.Outcome == NotExecuted
}

func first(trailers metadata.MD, name string) string {
	if values := trailers[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func hasPrefix(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
