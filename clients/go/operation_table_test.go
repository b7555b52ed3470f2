//go:build unix

package quoin_test

import (
	"context"

	"google.golang.org/grpc"

	quoin "quoin.dev/client"
)

type callOption = grpc.CallOption

// operations are those of the scenarios, by this SDK.
var operations = map[string]operation{
	"kv.get": func(c *scenarioCall) (any, error) {
		result, err := described(c.client.KV.Get(c.ctx, c.args.text("namespace"), c.args.text("key"), c.args.options()...))
		return result, err
	},
	"kv.put": func(c *scenarioCall) (any, error) {
		a := c.args
		return described(c.client.KV.Put(c.ctx, a.text("namespace"), a.text("key"), a.bytes("value"), a.options()...))
	},
	"kv.delete": func(c *scenarioCall) (any, error) {
		return described(c.client.KV.Delete(c.ctx, c.args.text("namespace"), c.args.text("key"), c.args.options()...))
	},
	"kv.touch": func(c *scenarioCall) (any, error) {
		return described(c.client.KV.Touch(c.ctx, c.args.text("namespace"), c.args.text("key"), c.args.options()...))
	},
	"kv.compare_and_swap": func(c *scenarioCall) (any, error) {
		a := c.args
		result, err := c.client.KV.CompareAndSwap(c.ctx, a.text("namespace"), a.text("key"), a.bytes("value"), a.options()...)
		if err != nil {
			return nil, err
		}
		known := describe(result)
		if !result.CurrentExists {
			delete(known, "current_value")
		}
		return known, nil
	},
	"kv.list": func(c *scenarioCall) (any, error) {
		return described(c.client.KV.List(c.ctx, c.args.text("namespace"), c.args.text("prefix"), c.args.options()...))
	},
	"kv.all": func(c *scenarioCall) (any, error) {
		items := []any{}
		for page, err := range c.client.KV.Pages(c.ctx, c.args.text("namespace"), c.args.text("prefix"), c.args.options()...) {
			if err != nil {
				return nil, err
			}
			items = append(items, describe(page)["items"].([]any)...)
		}
		return object{"items": items}, nil
	},
	"kv.count": func(c *scenarioCall) (any, error) {
		return described(c.client.KV.Count(c.ctx, c.args.text("namespace"), c.args.text("prefix"), c.args.options()...))
	},
	"kv.create_namespace": service(func(c *quoin.Client) func(context.Context, *quoin.CreateNamespaceRequest, ...callOption) (*quoin.CreateNamespaceResponse, error) {
		return c.KeyValue.CreateNamespace
	}),
	"kv.delete_namespace": service(func(c *quoin.Client) func(context.Context, *quoin.DeleteNamespaceRequest, ...callOption) (*quoin.DeleteNamespaceResponse, error) {
		return c.KeyValue.DeleteNamespace
	}),
	"locks.create": func(c *scenarioCall) (any, error) {
		return none(c.client.Lock(c.args.text("namespace"), c.args.text("name")).Create(c.ctx, c.args.options()...))
	},
	"locks.describe": service(func(c *quoin.Client) func(context.Context, *quoin.DescribeLockRequest, ...callOption) (*quoin.DescribeLockResponse, error) {
		return c.Locks.DescribeLock
	}),
	"locks.acquire": service(func(c *quoin.Client) func(context.Context, *quoin.AcquireLockRequest, ...callOption) (*quoin.AcquireLockResponse, error) {
		return c.Locks.AcquireLock
	}),
	"locks.renew": service(func(c *quoin.Client) func(context.Context, *quoin.AcquireLockRequest, ...callOption) (*quoin.AcquireLockResponse, error) {
		return c.Locks.AcquireLock
	}),
	"locks.release": service(func(c *quoin.Client) func(context.Context, *quoin.ReleaseLockRequest, ...callOption) (*quoin.ReleaseLockResponse, error) {
		return c.Locks.ReleaseLock
	}),
	"locks.force_release": service(func(c *quoin.Client) func(context.Context, *quoin.ForceReleaseLockRequest, ...callOption) (*quoin.ForceReleaseLockResponse, error) {
		return c.Locks.ForceReleaseLock
	}),
	"locks.delete": service(func(c *quoin.Client) func(context.Context, *quoin.DeleteLockRequest, ...callOption) (*quoin.DeleteLockResponse, error) {
		return c.Locks.DeleteLock
	}),
	"locks.hold": func(c *scenarioCall) (any, error) {
		opts := c.args.options()
		if _, isGiven := c.args.given["value"]; isGiven {
			opts = append(opts, quoin.WithValue(c.args.bytes("value")))
		}
		hold, err := c.client.Lock(c.args.text("namespace"), c.args.text("name")).Lock(c.ctx, opts...)
		return holdResult(c, hold, err)
	},
	"locks.do": func(c *scenarioCall) (any, error) {
		return none(c.client.Lock(c.args.text("namespace"), c.args.text("name")).Do(c.ctx, func(_ context.Context, hold *quoin.Hold) error {
			c.keep(hold)
			return c.block()
		}, c.args.options()...))
	},
	"rw_locks.create": func(c *scenarioCall) (any, error) {
		return none(c.client.RWLock(c.args.text("namespace"), c.args.text("name")).Create(c.ctx, c.args.options()...))
	},
	"rw_locks.describe": service(func(c *quoin.Client) func(context.Context, *quoin.DescribeRWLockRequest, ...callOption) (*quoin.DescribeRWLockResponse, error) {
		return c.Locks.DescribeRWLock
	}),
	"rw_locks.hold": func(c *scenarioCall) (any, error) {
		lock := c.client.RWLock(c.args.text("namespace"), c.args.text("name"))
		switch c.args.text("mode") {
		case "READ":
			hold, err := lock.RLock(c.ctx, c.args.options()...)
			return holdResult(c, hold, err)
		case "WRITE":
			hold, err := lock.Lock(c.ctx, c.args.options()...)
			return holdResult(c, hold, err)
		}
		return nil, unsupported("a mode is a method in Go")
	},
	"rw_locks.force_release": func(c *scenarioCall) (any, error) {
		request := fill(&quoin.ForceReleaseLockRequest{Rw: true}, c.args.given)
		return described(c.client.Locks.ForceReleaseLock(c.ctx, request))
	},
	"semaphores.create": func(c *scenarioCall) (any, error) {
		semaphore := c.client.Semaphore(c.args.text("namespace"), c.args.text("name"))
		return none(semaphore.Create(c.ctx, int(c.args.number("permits")), c.args.options()...))
	},
	"semaphores.describe": func(c *scenarioCall) (any, error) {
		found, err := c.client.Locks.DescribeSemaphore(c.ctx, fill(&quoin.DescribeSemaphoreRequest{}, c.args.given))
		if err != nil {
			return nil, err
		}
		result := describe(found)
		result["available"] = found.Permits - found.HeldPermits
		return result, nil
	},
	"semaphores.update": service(func(c *quoin.Client) func(context.Context, *quoin.UpdateSemaphoreRequest, ...callOption) (*quoin.UpdateSemaphoreResponse, error) {
		return c.Locks.UpdateSemaphore
	}),
	"semaphores.hold": func(c *scenarioCall) (any, error) {
		permits := 1
		if _, isGiven := c.args.given["permits"]; isGiven {
			permits = int(c.args.number("permits"))
		}
		hold, err := c.client.Semaphore(c.args.text("namespace"), c.args.text("name")).Acquire(c.ctx, permits, c.args.options()...)
		return holdResult(c, hold, err)
	},
	"hold.state": func(c *scenarioCall) (any, error) {
		hold := holdOf(c.of)
		result := describeHold(hold)
		result["held"], result["lost"] = hold.IsLive(), hold.Err() != nil
		return result, nil
	},
	"hold.await_lost": func(c *scenarioCall) (any, error) {
		return awaitLost(c.ctx, holdOf(c.of).Lost(), holdOf(c.of).Err)
	},
	"hold.release": func(c *scenarioCall) (any, error) {
		isReleased, err := holdOf(c.of).Release(c.ctx, c.args.options()...)
		return object{"released": isReleased}, err
	},
	"hold.downgrade": func(c *scenarioCall) (any, error) {
		err := holdOf(c.of).Downgrade(c.ctx)
		return describeHold(holdOf(c.of)), err
	},
	"hold.upgrade": func(c *scenarioCall) (any, error) {
		err := holdOf(c.of).Upgrade(c.ctx)
		return describeHold(holdOf(c.of)), err
	},
	"sessions.keep": func(c *scenarioCall) (any, error) {
		session, err := c.client.Session(c.ctx, c.args.text("namespace"), c.args.options()...)
		if err != nil {
			return nil, err
		}
		c.keep(session)
		return object{"session_id": session.ID()}, nil
	},
	"sessions.describe": func(c *scenarioCall) (any, error) {
		found, err := c.client.Sessions.DescribeSession(c.ctx, fill(&quoin.DescribeSessionRequest{}, c.args.given))
		if err != nil {
			return nil, err
		}
		result := describe(found.Session)
		result["keys"] = found.Keys
		return result, nil
	},
	"sessions.end": service(func(c *quoin.Client) func(context.Context, *quoin.EndSessionRequest, ...callOption) (*quoin.EndSessionResponse, error) {
		return c.Sessions.EndSession
	}),
	"session.state": func(c *scenarioCall) (any, error) {
		session := c.of.(*quoin.Session)
		return object{"live": session.IsLive(), "lost": session.Err() != nil}, nil
	},
	"session.await_lost": func(c *scenarioCall) (any, error) {
		session := c.of.(*quoin.Session)
		return awaitLost(c.ctx, session.Lost(), session.Err)
	},
	"session.end": func(c *scenarioCall) (any, error) {
		isEnded, err := c.of.(*quoin.Session).End(c.ctx, c.args.options()...)
		return object{"ended": isEnded}, err
	},
	"election.campaign": func(c *scenarioCall) (any, error) {
		election := c.client.Election(c.args.text("namespace"), c.args.text("name"))
		leadership, err := election.Campaign(c.ctx, c.args.text("value"), c.args.options()...)
		if err != nil {
			return nil, err
		}
		c.keep(leadership)
		return object{"fencing_token": leadership.FencingToken()}, nil
	},
	"election.leader": func(c *scenarioCall) (any, error) {
		leader, err := c.client.Election(c.args.text("namespace"), c.args.text("name")).Leader(c.ctx, c.args.options()...)
		return describeLeader(leader), err
	},
	"election.observe": func(c *scenarioCall) (any, error) {
		ctx, cancel := context.WithCancel(context.Background())
		leaders := c.client.Election(c.args.text("namespace"), c.args.text("name")).Observe(ctx)
		c.keep(newReader(leaders, cancel, func(leader *quoin.Leader) object {
			return object{"events": []any{describeLeader(leader)}}
		}))
		return object{}, nil
	},
	"leadership.proclaim": func(c *scenarioCall) (any, error) {
		return none(c.of.(*quoin.Leadership).Proclaim(c.ctx, c.args.text("value"), c.args.options()...))
	},
	"watch.keys": func(c *scenarioCall) (any, error) {
		a := c.args
		// A watch outlives the call that opens it.
		ctx := context.Background()
		if _, isGiven := a.given["key"]; isGiven {
			watch, err := c.client.WatchKey(ctx, a.text("namespace"), a.text("key"), a.options()...)
			return keepWatch(c, watch, err, keyEvent)
		}
		watch, err := c.client.WatchKeys(ctx, a.text("namespace"), a.text("prefix"), a.options()...)
		return keepWatch(c, watch, err, keyEvent)
	},
	"watch.locks": func(c *scenarioCall) (any, error) {
		watch, err := c.client.WatchLocks(context.Background(), c.args.text("namespace"), c.args.text("prefix"), c.args.options()...)
		return keepWatch(c, watch, err, lockEvent)
	},
	"stream.next": func(c *scenarioCall) (any, error) {
		next, err, isOpen := c.of.(*reader).next()
		if !isOpen {
			return object{"events": []any{}, "ended": true}, nil
		}
		return next, err
	},
	"stream.close": func(c *scenarioCall) (any, error) {
		c.of.(*reader).close()
		return object{}, nil
	},
	"memory.allocate": service(func(c *quoin.Client) func(context.Context, *quoin.AllocateMemoryRequest, ...callOption) (*quoin.AllocateMemoryResponse, error) {
		return c.Memory.AllocateMemory
	}),
	"memory.describe": func(c *scenarioCall) (any, error) {
		found, err := c.client.Memory.DescribeMemory(c.ctx, fill(&quoin.DescribeMemoryRequest{}, c.args.given))
		if err != nil {
			return nil, err
		}
		return describe(found.Region), nil
	},
	"memory.write": func(c *scenarioCall) (any, error) {
		a := c.args
		region := c.client.Region(a.text("namespace"), a.text("region_id"))
		version, err := region.WriteAt(c.ctx, a.number("offset"), a.bytes("data"), a.options()...)
		return object{"version": version}, err
	},
	"memory.read": service(func(c *quoin.Client) func(context.Context, *quoin.ReadMemoryRequest, ...callOption) (*quoin.ReadMemoryResponse, error) {
		return c.Memory.ReadMemory
	}),
	"memory.resize": service(func(c *quoin.Client) func(context.Context, *quoin.ResizeMemoryRequest, ...callOption) (*quoin.ResizeMemoryResponse, error) {
		return c.Memory.ResizeMemory
	}),
	"memory.free": service(func(c *quoin.Client) func(context.Context, *quoin.FreeMemoryRequest, ...callOption) (*quoin.FreeMemoryResponse, error) {
		return c.Memory.FreeMemory
	}),
	"memory.all": func(c *scenarioCall) (any, error) {
		items := []any{}
		for page, err := range quoin.Pages(c.ctx, c.client.Memory.ListMemoryRegions, fill(&quoin.ListMemoryRegionsRequest{}, c.args.given)) {
			if err != nil {
				return nil, err
			}
			items = append(items, describe(page)["regions"].([]any)...)
		}
		return object{"items": items}, nil
	},
	"logs.create": func(c *scenarioCall) (any, error) {
		request := fill(&quoin.CreateLogRequest{}, c.args.given)
		if _, isGiven := c.args.given["duplicate_window_seconds"]; isGiven {
			request.Settings = map[string]int64{"queue.duplicate_window_secs": c.args.number("duplicate_window_seconds")}
		}
		created, err := c.client.Logs.CreateLog(c.ctx, request)
		if err != nil {
			return nil, err
		}
		return describe(created.Log), nil
	},
	"logs.describe": func(c *scenarioCall) (any, error) {
		found, err := c.client.Logs.GetLog(c.ctx, fill(&quoin.GetLogRequest{}, c.args.given))
		if err != nil {
			return nil, err
		}
		return describe(found.Log), nil
	},
	"logs.append": func(c *scenarioCall) (any, error) {
		return appended(c.client.Log(c.args.text("log_id")).Append(c.ctx, c.args.bytes("payload"), c.args.options()...))
	},
	"logs.append_batch": func(c *scenarioCall) (any, error) {
		payloads := [][]byte{}
		for _, one := range c.args.given["payloads"].([]any) {
			payloads = append(payloads, []byte(text(one)))
		}
		return appended(c.client.Log(c.args.text("log_id")).AppendBatch(c.ctx, payloads, c.args.options()...))
	},
	"logs.read": func(c *scenarioCall) (any, error) {
		return described(c.client.Log(c.args.text("log_id")).Read(c.ctx, c.args.options()...))
	},
	"logs.tail": func(c *scenarioCall) (any, error) {
		ctx, cancel := context.WithCancel(context.Background())
		events := c.client.Log(c.args.text("log_id")).Tail(ctx, c.args.options()...)
		c.keep(newReader(events, cancel, func(event *quoin.LogEvent) object {
			return object{"events": []any{describe(event)}}
		}))
		return object{}, nil
	},
	"logs.delete": service(func(c *quoin.Client) func(context.Context, *quoin.DeleteLogRequest, ...callOption) (*quoin.DeleteLogResponse, error) {
		return c.Logs.DeleteLog
	}),
	"logs.all": func(c *scenarioCall) (any, error) {
		items := []any{}
		for page, err := range quoin.Pages(c.ctx, c.client.Logs.ListLogs, fill(&quoin.ListLogsRequest{}, c.args.given)) {
			if err != nil {
				return nil, err
			}
			items = append(items, describe(page)["logs"].([]any)...)
		}
		return object{"items": items}, nil
	},
	"transaction.commit": func(c *scenarioCall) (any, error) {
		request := fill(&quoin.TransactRequest{}, c.args.without("guard").given)
		txn := c.client.Txn(c.args.text("namespace")).If(request.Compare...).Then(request.Success...).Else(request.Failure...)
		return described(txn.Commit(c.ctx, c.args.options()...))
	},
	"transact": func(c *scenarioCall) (any, error) {
		return none(c.client.Transact(c.ctx, c.args.text("namespace"), func(_ context.Context, tx *quoin.Tx) error {
			c.keep(tx)
			return c.block()
		}, c.args.options()...))
	},
	"tx.get": func(c *scenarioCall) (any, error) {
		value, err := c.of.(*quoin.Tx).Get(c.ctx, c.args.text("key"))
		if err != nil || value == nil {
			return object{}, err
		}
		return object{"value": string(value)}, nil
	},
	"tx.list": func(c *scenarioCall) (any, error) {
		found, err := c.of.(*quoin.Tx).List(c.ctx, c.args.text("prefix"))
		items := []any{}
		for _, key := range sorted(found) {
			items = append(items, object{"key": key, "value": string(found[key])})
		}
		return object{"items": items}, err
	},
	"tx.put": func(c *scenarioCall) (any, error) {
		return none(c.of.(*quoin.Tx).Put(c.args.text("key"), c.args.bytes("value"), c.args.seconds("ttl_seconds")))
	},
	"tx.delete": func(c *scenarioCall) (any, error) {
		return none(c.of.(*quoin.Tx).Delete(c.args.text("key")))
	},
	"cluster.get": service(func(c *quoin.Client) func(context.Context, *quoin.GetClusterRequest, ...callOption) (*quoin.GetClusterResponse, error) {
		return c.Cluster.GetCluster
	}),
}

func describeLeader(leader *quoin.Leader) object {
	if leader == nil {
		return object{}
	}
	return object{"value": leader.Value, "fencing_token": leader.FencingToken}
}
