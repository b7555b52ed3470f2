/** The operations of the scenarios, by the SDK for TypeScript. */

import type {
  Client,
  EndableIterator,
  Leadership,
  LockEvent,
  LockHandle,
  OptimisticTransaction,
  ReadWriteLockHandle,
  SessionHandle,
  Watch,
} from "@quoin/client";

/** Decoded JSON. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [name: string]: Json };

/** Arguments by their names in camel case. Scenarios also give wrong ones, so nothing is known of their types. */
type Arguments = Readonly<Record<string, unknown>>;

/** Everything that a call may need. */
export interface CallContext {
  /** Undefined for an operation of a kept thing. */
  readonly client: Client | undefined;
  /** What the operation belongs to; undefined for an operation of a client. */
  readonly of: unknown;
  readonly args: Arguments;
  readonly signal: AbortSignal;
  /** Keeps something under the name that the scenario gives it. */
  readonly keep: (thing: unknown) => void;
  /** Tells the driver that the block of this call runs, and ends as the driver says. */
  readonly block: () => Promise<void>;
}

type Operation = (context: CallContext) => unknown;

/** A function of the SDK with parameters that the compiler does not check. */
type AnyFunction = (...args: readonly unknown[]) => unknown;

/** Operations that are one method: the part of the client, the method, and the names of the arguments before its options. */
const METHODS: Readonly<Record<string, readonly [keyof Client, string, readonly string[]]>> = {
  "kv.get": ["keyValue", "get", ["namespace", "key"]],
  "kv.put": ["keyValue", "put", ["namespace", "key", "value"]],
  "kv.delete": ["keyValue", "delete", ["namespace", "key"]],
  "kv.touch": ["keyValue", "touch", ["namespace", "key", "ttlSeconds"]],
  "kv.compare_and_swap": ["keyValue", "compareAndSwap", ["namespace", "key", "value"]],
  "kv.list": ["keyValue", "list", ["namespace"]],
  "kv.count": ["keyValue", "count", ["namespace"]],
  "kv.create_namespace": ["keyValue", "createNamespace", ["namespace"]],
  "kv.delete_namespace": ["keyValue", "deleteNamespace", ["namespace"]],
  "locks.create": ["locks", "create", ["namespace", "name"]],
  "locks.describe": ["locks", "describe", ["namespace", "name"]],
  "locks.acquire": ["locks", "acquire", ["namespace", "name"]],
  "locks.renew": ["locks", "renew", ["namespace", "name", "fencingToken"]],
  "locks.release": ["locks", "release", ["namespace", "name"]],
  "locks.force_release": ["locks", "forceRelease", ["namespace", "name"]],
  "locks.delete": ["locks", "delete", ["namespace", "name"]],
  "rw_locks.create": ["readWriteLocks", "create", ["namespace", "name"]],
  "rw_locks.describe": ["readWriteLocks", "describe", ["namespace", "name"]],
  "rw_locks.force_release": ["readWriteLocks", "forceRelease", ["namespace", "name"]],
  "semaphores.create": ["semaphores", "create", ["namespace", "name", "permits"]],
  "semaphores.describe": ["semaphores", "describe", ["namespace", "name"]],
  "semaphores.update": ["semaphores", "update", ["namespace", "name", "permits"]],
  "sessions.describe": ["sessions", "describe", ["namespace", "sessionId"]],
  "sessions.end": ["sessions", "end", ["namespace", "sessionId"]],
  "memory.allocate": ["memory", "allocate", ["namespace", "sizeBytes"]],
  "memory.describe": ["memory", "describe", ["namespace", "regionId"]],
  "memory.write": ["memory", "write", ["namespace", "regionId", "offset", "data"]],
  "memory.read": ["memory", "read", ["namespace", "regionId", "offset", "length"]],
  "memory.resize": ["memory", "resize", ["namespace", "regionId", "sizeBytes"]],
  "memory.free": ["memory", "free", ["namespace", "regionId"]],
  "logs.describe": ["logs", "describe", ["logId"]],
  "logs.append": ["logs", "append", ["logId", "payload"]],
  "logs.append_batch": ["logs", "appendBatch", ["logId", "payloads"]],
  "logs.read": ["logs", "read", ["logId"]],
  "logs.delete": ["logs", "delete", ["logId"]],
  "cluster.get": ["cluster", "getCluster", []],
};

/** Operations that keep what they return. */
const KEEPING: typeof METHODS = {
  "locks.hold": ["locks", "hold", ["namespace", "name"]],
  "rw_locks.hold": ["readWriteLocks", "hold", ["namespace", "name", "mode"]],
  "semaphores.hold": ["semaphores", "hold", ["namespace", "name"]],
  "watch.keys": ["watch", "keys", ["namespace"]],
  "watch.locks": ["watch", "locks", ["namespace"]],
  "logs.tail": ["logs", "tail", ["logId"]],
};

/** Operations that read all pages. */
const ITERATING: typeof METHODS = {
  "kv.all": ["keyValue", "pages", ["namespace"]],
  "memory.all": ["memory", "pages", ["namespace"]],
  "logs.all": ["logs", "pages", []],
};

/** All other operations. */
const OTHERS: Readonly<Record<string, Operation>> = {
  "logs.create": async ({ client, args, signal }) => {
    const { name, duplicateWindowSeconds, ...options } = args;
    const settings = duplicateWindowSeconds === undefined ? {} : { settings: { duplicateWindowSeconds } };
    return called(client?.logs, "create", [name, { ...options, ...settings, signal }]);
  },
  "sessions.keep": async ({ client, args: { namespace, ...options }, keep }) => {
    const session = (await called(client, "session", [namespace, options])) as SessionHandle;
    keep(session);
    return { sessionId: session.id };
  },
  "locks.do": async ({ client, args: { namespace, name, ...options }, signal, keep, block }) => {
    const work = async (hold: LockHandle): Promise<void> => {
      keep(hold);
      await block();
    };
    await called(client?.locks, "withLock", [namespace, name, work, { ...options, signal }]);
  },
  transact: async ({ client, args: { namespace, ...options }, signal, keep, block }) => {
    const work = async (transaction: OptimisticTransaction): Promise<void> => {
      keep(transaction);
      await block();
    };
    await called(client, "transact", [namespace, work, { ...options, signal }]);
  },
  "tx.get": async ({ of, args: { key } }) => ({ value: await called(of, "get", [key]) }),
  "tx.list": async ({ of, args: { prefix } }) => ({ items: await called(of, "list", [prefix]) }),
  "tx.put": ({ of, args: { key, value, ...options } }) => called(of, "put", [key, value, options]),
  "tx.delete": ({ of, args: { key } }) => called(of, "delete", [key]),
  "transaction.commit": ({ client, args, signal }) => {
    const { namespace, compare = [], success = [], failure = [], ...options } = args;
    const lists = [compare, success, failure].map((list) => list as readonly never[]);
    const [conditions = [], then = [], otherwise = []] = lists;
    const transaction = client
      ?.transaction(namespace as string)
      .if(...conditions)
      .then(...then)
      .else(...otherwise);
    return transaction?.commit({ ...options, signal });
  },
  "election.campaign": async ({ client, args: { namespace, name, value, ...options }, signal, keep }) => {
    const election = client?.election(namespace as string, name as string);
    const leadership = (await called(election, "campaign", [value, { ...options, signal }])) as Leadership;
    keep(leadership);
    return { fencingToken: leadership.token };
  },
  "election.leader": async ({ client, args: { namespace, name, ...options } }) =>
    (await client?.election(namespace as string, name as string).leader(options)) ?? {},
  "election.observe": ({ client, args: { namespace, name }, keep }) => {
    keep(client?.election(namespace as string, name as string).observe());
  },
  "leadership.proclaim": ({ of, args: { value } }) => called(of, "proclaim", [value]),
  "hold.state": ({ of }) => {
    const hold = holdOf(of);
    const mode = "mode" in hold ? hold.mode : undefined;
    return { held: hold.isHeld, lost: hold.signal.aborted, fencingToken: hold.token, mode };
  },
  "hold.await_lost": ({ of, signal }) => lossOf(holdOf(of).signal, signal),
  "hold.release": async ({ of, args }) => ({ released: await holdOf(of).release(args) }),
  "hold.downgrade": ({ of }) => withMode(of, (hold) => hold.downgrade()),
  "hold.upgrade": ({ of }) => withMode(of, (hold) => hold.upgrade()),
  "session.state": ({ of }) => {
    const { isLive, lost } = of as SessionHandle;
    return { live: isLive, lost: lost.aborted };
  },
  "session.await_lost": ({ of, signal }) => lossOf((of as SessionHandle).lost, signal),
  "session.end": async ({ of, args }) => ({ ended: await (of as SessionHandle).end(args) }),
  "stream.next": async ({ of }) => {
    const { done, value } = await (of as EndableIterator<unknown>).next();
    return done === true ? { events: [], ended: true } : eventsOf(value);
  },
  "stream.close": async ({ of }) => {
    await (of as EndableIterator<unknown>).return();
  },
};

/** Names of all operations. */
export const OPERATIONS: readonly string[] = [METHODS, KEEPING, ITERATING, OTHERS].flatMap((table) =>
  Object.keys(table),
);

/** Calls an operation. It returns what the SDK returns, mostly a promise, and throws what the SDK throws. */
export async function callOperation(name: string, context: CallContext): Promise<unknown> {
  const args = name.startsWith("logs.") ? logArguments(name, context.args) : context.args;
  const given = { ...context, args };
  if (Object.hasOwn(METHODS, name)) {
    return callMethod(METHODS[name], given);
  }
  if (Object.hasOwn(KEEPING, name)) {
    const kept = await callMethod(KEEPING[name], given);
    context.keep(kept);
    return describeKept(kept);
  }
  if (Object.hasOwn(ITERATING, name)) {
    const items: unknown[] = [];
    for await (const page of (await callMethod(ITERATING[name], given)) as AsyncIterable<unknown>) {
      items.push(...itemsOf(page));
    }
    return { items };
  }
  return OTHERS[name]?.(given);
}

/** The items of a page, whatever its field is called. */
function itemsOf(page: unknown): readonly unknown[] {
  return Array.isArray(page) ? page : (Object.values(page as object).find((field) => Array.isArray(field)) ?? []);
}

async function callMethod(method: (typeof METHODS)[string] | undefined, { client, args, signal }: CallContext) {
  const [part = "keyValue", name = "", names = []] = method ?? [];
  const options = Object.fromEntries(Object.entries(args).filter(([argument]) => !names.includes(argument)));
  return called(client?.[part], name, [...names.map((argument) => args[argument]), { ...options, signal }]);
}

function called(target: unknown, name: string, args: readonly unknown[]): unknown {
  const method = (target as Readonly<Record<string, AnyFunction>>)[name];
  return method?.apply(target, [...args]);
}

/** Logs have an id of their own, and their SDK calls some arguments otherwise. */
function logArguments(name: string, { namespace, guard, idempotencyKey, ...args }: Arguments): Arguments {
  return {
    ...args,
    ...(name === "logs.create" || name === "logs.all" ? { namespace } : {}),
    ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
    ...(guard === undefined ? {} : { guard: { namespace, ...(guard as object) } }),
  };
}

function holdOf(thing: unknown): LockHandle {
  return thing !== null && typeof thing === "object" && "hold" in thing
    ? (thing as Leadership).hold
    : (thing as LockHandle);
}

async function withMode(thing: unknown, change: (hold: ReadWriteLockHandle) => Promise<void>): Promise<object> {
  const hold = thing as ReadWriteLockHandle;
  await change(hold);
  return { fencingToken: hold.token, mode: hold.mode };
}

function describeKept(kept: unknown): object {
  if (kept !== null && typeof kept === "object" && "token" in kept) {
    const hold = kept as LockHandle;
    return { fencingToken: hold.token, owner: hold.owner, mode: "mode" in hold ? hold.mode : undefined };
  }
  return kept !== null && typeof kept === "object" && "revision" in kept
    ? { revision: (kept as Watch<unknown>).revision }
    : {};
}

/** Waits for a signal of loss. */
async function lossOf(lost: AbortSignal, cancel: AbortSignal): Promise<object> {
  await new Promise<void>((resolve) => {
    const either = AbortSignal.any([lost, cancel]);
    either.addEventListener("abort", () => resolve());
    if (either.aborted) {
      resolve();
    }
  });
  const { reason } = lost.reason as { readonly reason: string };
  return { reason };
}

/** A batch of a watch, an event of a log, or a leader. */
function eventsOf(value: unknown): object {
  if (typeof value !== "object" || value === null || !("events" in value)) {
    return { events: [value ?? {}] };
  }
  const { events, revision } = value as { readonly events: readonly object[]; readonly revision: number };
  const flat = events.map((event) => {
    if ("kv" in event) {
      const { kv, ...others } = event;
      return { ...(kv as object), ...others };
    }
    return { ...event, name: (event as LockEvent).lockKey };
  });
  return { events: flat, revision };
}
