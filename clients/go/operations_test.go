//go:build unix

package quoin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	quoin "quoin.dev/client"
)

// scenarioCall is one call of a scenario.
type scenarioCall struct {
	ctx    context.Context
	client *quoin.Client
	of     any
	args   arguments
	keep   func(any)
	block  func() error
}

// arguments are those of a call, as JSON.
type arguments struct{ given object }

func (a arguments) text(name string) string  { return text(a.given[name]) }
func (a arguments) bytes(name string) []byte { return []byte(a.text(name)) }

func (a arguments) number(name string) int64 {
	value, isNumber := a.given[name].(json.Number)
	if !isNumber {
		if a.given[name] == nil {
			return 0
		}
		panic(unsupported(fmt.Sprintf("%s cannot be %v in Go", name, a.given[name])))
	}
	number, err := value.Int64()
	if err != nil {
		panic(unsupported(fmt.Sprintf("%s cannot be %v in Go", name, value)))
	}
	return number
}

func (a arguments) milliseconds(name string) time.Duration {
	return time.Duration(a.number(name)) * time.Millisecond
}

func (a arguments) seconds(name string) time.Duration {
	return time.Duration(a.number(name)) * time.Second
}

func (a arguments) isTrue(name string) bool {
	value, _ := a.given[name].(bool)
	return value
}

// options makes options of all arguments that are some.
func (a arguments) options() []quoin.Option {
	makers := map[string]func(string) quoin.Option{
		"timeout_ms":            func(n string) quoin.Option { return quoin.WithTimeout(a.milliseconds(n)) },
		"request_id":            func(n string) quoin.Option { return quoin.WithRequestID(a.text(n)) },
		"ttl_seconds":           func(n string) quoin.Option { return quoin.WithTTL(a.seconds(n)) },
		"lock_delay_seconds":    func(n string) quoin.Option { return quoin.WithLockDelay(a.seconds(n)) },
		"session_id":            func(n string) quoin.Option { return quoin.WithSession(a.number(n)) },
		"expected_mod_revision": func(n string) quoin.Option { return quoin.IfModRevision(a.number(n)) },
		"expected_value":        func(n string) quoin.Option { return quoin.IfValue(a.bytes(n)) },
		"expected_version":      func(n string) quoin.Option { return quoin.IfVersion(a.number(n)) },
		"expected_sequence":     func(n string) quoin.Option { return quoin.IfSequence(a.number(n)) },
		"idempotency_key":       func(n string) quoin.Option { return quoin.WithIdempotencyKey(a.text(n)) },
		"page_size":             func(n string) quoin.Option { return quoin.WithPageSize(int(a.number(n))) },
		"limit":                 func(n string) quoin.Option { return quoin.WithPageSize(int(a.number(n))) },
		"page_token":            func(n string) quoin.Option { return quoin.WithPageToken(a.text(n)) },
		"owner":                 func(n string) quoin.Option { return quoin.WithOwner(a.text(n)) },
		"label":                 func(n string) quoin.Option { return quoin.WithOwner(a.text(n)) },
		"wait_ms":               func(n string) quoin.Option { return quoin.WithWait(a.milliseconds(n)) },
		"wait_seconds":          func(n string) quoin.Option { return quoin.WithWait(a.seconds(n)) },
		"start_revision":        func(n string) quoin.Option { return quoin.WithStart(a.number(n)) },
		"from_sequence":         func(n string) quoin.Option { return quoin.WithStart(a.number(n)) },
		"progress_interval_ms":  func(n string) quoin.Option { return quoin.WithProgressInterval(a.milliseconds(n)) },
		"max_attempts":          func(n string) quoin.Option { return quoin.WithMaxRuns(int(a.number(n))) },
		"guard": func(n string) quoin.Option {
			guard := arguments{a.given[n].(object)}
			return quoin.WithGuard(quoin.Guard{
				Namespace: a.text("namespace"), LockName: guard.text("lock_name"), FencingToken: guard.number("fencing_token"),
				RW: guard.isTrue("rw"), SessionID: guard.number("session_id"),
			})
		},
	}
	flags := map[string]quoin.Option{"keys_only": quoin.KeysOnly(), "return_previous": quoin.WithPrevious(), "include_previous": quoin.WithPrevious()}
	var opts []quoin.Option
	for _, name := range sorted(a.given) {
		if maker, isOption := makers[name]; isOption {
			opts = append(opts, maker(name))
		} else if flag, isFlag := flags[name]; isFlag && a.isTrue(name) {
			opts = append(opts, flag)
		} else if name == "consistency" && strings.EqualFold(a.text(name), "serializable") {
			opts = append(opts, quoin.Serializable())
		}
	}
	return opts
}

// callOptions are the options of the methods of services.
func (a arguments) callOptions() []quoin.Option {
	var opts []quoin.Option
	for _, name := range []string{"timeout_ms", "request_id"} {
		if value, isGiven := a.given[name]; isGiven {
			opts = append(opts, arguments{object{name: value}}.options()...)
		}
	}
	return opts
}

// without returns the other arguments.
func (a arguments) without(names ...string) arguments {
	others := object{}
	for name, value := range a.given {
		others[name] = value
	}
	for _, name := range names {
		delete(others, name)
	}
	return arguments{others}
}

// fill sets the fields of a message that the arguments name.
func fill[M proto.Message](message M, given object) M {
	fillMessage(message.ProtoReflect(), given)
	return message
}

func fillMessage(message protoreflect.Message, given object) {
	for name, value := range given {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil || value == nil {
			continue
		}
		if !field.IsList() {
			message.Set(field, fieldValue(field, message.NewField(field), value))
			continue
		}
		list := message.Mutable(field).List()
		for _, element := range value.([]any) {
			if field.Kind() == protoreflect.MessageKind {
				list.Append(fieldValue(field, list.NewElement(), element))
			} else {
				list.Append(fieldValue(field, protoreflect.Value{}, element))
			}
		}
	}
}

func fieldValue(field protoreflect.FieldDescriptor, empty protoreflect.Value, value any) protoreflect.Value {
	number := arguments{object{"it": value}}
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text(value))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(text(value)))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(value == true)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(number.number("it"))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(number.number("it")))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(field.Enum().Values().ByName(protoreflect.Name(strings.ToUpper(text(value)))).Number())
	}
	fillMessage(empty.Message(), value.(object))
	return empty
}

// describe is a message in the words of the scenarios.
func describe(message proto.Message) object {
	return describeMessage(message.ProtoReflect())
}

func describeMessage(message protoreflect.Message) object {
	result := object{}
	if !message.IsValid() {
		return result
	}
	fields := message.Descriptor().Fields()
	for at := range fields.Len() {
		field := fields.Get(at)
		if field.HasPresence() && !message.Has(field) {
			continue
		}
		value := message.Get(field)
		switch {
		case field.IsMap():
		case field.IsList():
			list := []any{}
			for at := range value.List().Len() {
				list = append(list, describeValue(field, value.List().Get(at)))
			}
			result[string(field.Name())] = list
		default:
			result[string(field.Name())] = describeValue(field, value)
		}
	}
	return result
}

func describeValue(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch field.Kind() {
	case protoreflect.BytesKind:
		return string(value.Bytes())
	case protoreflect.EnumKind:
		if known := field.Enum().Values().ByNumber(value.Enum()); known != nil {
			return string(known.Name())
		}
		return fmt.Sprint(value.Enum())
	case protoreflect.MessageKind:
		described := describeMessage(value.Message())
		// A result of a transaction is that of its operation.
		if field.Name() == "results" {
			for _, only := range described {
				return only
			}
		}
		return described
	}
	return value.Interface()
}

// described is the result of a call that answers with a message.
func described[M proto.Message](message M, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return describe(message), nil
}

func none(err error) (any, error) { return object{}, err }

type operation = func(*scenarioCall) (any, error)

// service is an operation that is one method of a service, whose request has the names of the arguments.
func service[Request, Response any, P interface {
	*Request
	proto.Message
}, R interface {
	*Response
	proto.Message
}](method func(*quoin.Client) func(context.Context, P, ...callOption) (R, error)) operation {
	return func(c *scenarioCall) (any, error) {
		var opts []callOption
		for _, one := range c.args.callOptions() {
			opts = append(opts, one)
		}
		return described(method(c.client)(c.ctx, fill(P(new(Request)), c.args.given), opts...))
	}
}

func holdResult(c *scenarioCall, hold *quoin.Hold, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	c.keep(hold)
	return describeHold(hold), nil
}

func describeHold(hold *quoin.Hold) object {
	return object{"fencing_token": hold.FencingToken(), "owner": hold.Owner(), "mode": hold.Mode().String()}
}

func holdOf(kept any) *quoin.Hold {
	if leadership, isOne := kept.(*quoin.Leadership); isOne {
		return leadership.Hold
	}
	return kept.(*quoin.Hold)
}

func awaitLost(ctx context.Context, lost <-chan struct{}, why func() error) (any, error) {
	select {
	case <-lost:
		return object{"reason": why().(*quoin.Error).Reason}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func keepWatch[Event proto.Message](c *scenarioCall, watch *quoin.Watch[Event], err error, name func(Event) object) (any, error) {
	if err != nil {
		return nil, err
	}
	c.keep(newReader(watch.Batches(), watch.Close, func(batch quoin.WatchBatch[Event]) object {
		events := []any{}
		for _, event := range batch.Events {
			events = append(events, name(event))
		}
		return object{"events": events, "revision": batch.Revision}
	}))
	return object{"revision": watch.Revision()}, nil
}

func keyEvent(event *quoin.KeyEvent) object {
	result := describe(event.Kv)
	result["type"] = event.Type.String()
	if event.Previous != nil {
		result["previous"] = describe(event.Previous)
	}
	return result
}

func lockEvent(event *quoin.LockEvent) object {
	result := describe(event)
	result["name"] = event.LockKey
	return result
}

func appended(result *quoin.Appended, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return object{"sequence": result.LastSequence, "sequences": result.Sequences, "last_sequence": result.LastSequence, "replayed": result.Replayed}, nil
}
