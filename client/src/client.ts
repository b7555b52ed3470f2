/** The client of a cluster: an application creates one and shares it. */

import { ApiKeyClient, type Credentials, openContext, UsageClient, UserClient } from "./accounts/index.ts";
import { ClusterClient, MemberDiscovery } from "./cluster/index.ts";
import { Election } from "./election/index.ts";
import { KeyValueClient } from "./kv/index.ts";
import { LockClient, ReadWriteLockClient, SemaphoreClient } from "./locks/index.ts";
import { LogClient } from "./logs/index.ts";
import { MemoryClient } from "./memory/index.ts";
import { listOf, optionsCheck, text } from "./options/index.ts";
import { type CreateSessionOptions, SessionClient, type SessionHandle } from "./sessions/index.ts";
import {
  type BatchOptions,
  type BatchPart,
  type BatchWrite,
  OptimisticRunner,
  type OptimisticTransaction,
  Transaction,
  type TransactOptions,
  writeBatch,
} from "./transactions/index.ts";
import {
  assertEndpoints,
  type ChannelOptions,
  clientRules,
  type Runtime,
  type TlsOptions,
  type TokenSource,
} from "./transport/index.ts";
import { WatchClient } from "./watch/index.ts";

/** The options of a client. */
export interface ClientOptions {
  /**
   * gRPC endpoints of members as `host:port`, at least one. Any member serves every call; the client starts with a
   * random one. A long-lived client learns of the other members by itself.
   */
  readonly endpoints: readonly string[];
  /** Credentials, or a source of tokens that several clients share. */
  readonly credentials: Credentials | TokenSource;
  /** TLS options; `{}` = with the system's certificate authorities. Undefined = not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Deadline of operations without their own, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  readonly channel?: ChannelOptions | undefined;
  readonly runtime?: Runtime | undefined;
}

/** A client. It connects on first use, and is safe to share. */
export interface Client {
  readonly keyValue: KeyValueClient;
  readonly locks: LockClient;
  readonly readWriteLocks: ReadWriteLockClient;
  readonly semaphores: SemaphoreClient;
  readonly memory: MemoryClient;
  readonly sessions: SessionClient;
  readonly watch: WatchClient;
  readonly logs: LogClient;
  readonly keys: ApiKeyClient;
  readonly users: UserClient;
  readonly usage: UsageClient;
  readonly cluster: ClusterClient;
  /**
   * Creates a session in a namespace and renews it, until it is ended or lost: `await using session = …`. Keys that are
   * put with `sessionId: session.id` end with it. All sessions of a client in one namespace are renewed by common calls.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND; RESOURCE_EXHAUSTED / QUOTA.
   */
  session(namespace: string, options?: CreateSessionOptions): Promise<SessionHandle>;
  /** A transaction on a namespace: `client.transaction(namespace).if(…).then(…).else(…).commit()`. */
  transaction(namespace: string): Transaction;
  /**
   * Runs a function that reads and writes keys of a namespace, as one change: what it has read holds when its writes
   * take effect. If another client was faster, nothing is written, and the function runs again, after a pause. So it may
   * run several times, and must change nothing but by its parameter. A function that only reads is checked, too.
   *
   * @returns what the function returns. What it throws is thrown, and nothing is written.
   * @throws QuoinError ABORTED / TRANSACTION_CONFLICT if others were faster in all attempts; DEADLINE_EXCEEDED; the
   * errors of the reads and the writes. If the outcome is `unknown`, the function is not run again.
   */
  transact<Value>(
    namespace: string,
    work: (transaction: OptimisticTransaction) => Promise<Value> | Value,
    options?: TransactOptions,
  ): Promise<Value>;
  /**
   * Writes many keys in their order, in parts of at most 10,000 writes and about 3.5 MiB, and in smaller ones if large
   * values are replaced. **Only each part is atomic**: others may see some parts without the later ones, and if a part
   * fails, those before it remain. A key that is written twice is in two parts.
   *
   * @param writes may be a generator: only one part is kept in memory.
   * @returns the parts with their revisions, in order; none without writes.
   * @throws QuoinError of the part that failed; `onPart` has been called for those before it.
   */
  batch(
    namespace: string,
    writes: Iterable<BatchWrite> | AsyncIterable<BatchWrite>,
    options?: BatchOptions,
  ): Promise<readonly BatchPart[]>;
  /** The election of this name: the exclusive lock with that name. Sends no request by itself. */
  election(namespace: string, name: string): Election;
  /**
   * Closes the connections. Operations in flight fail with CANCELLED; those that were sent have an unknown outcome. New
   * operations fail, watches end, and holds of locks and sessions are no longer renewed.
   */
  close(): void;
}

const checkOptions = optionsCheck<ClientOptions>({
  ...clientRules,
  endpoints: listOf(text),
});

/**
 * Creates a client.
 *
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for unusable options.
 */
export function createClient(options: ClientOptions): Client {
  checkOptions(options, "createClient");
  const { endpoints } = options;
  assertEndpoints("endpoints", endpoints);
  const shared = openContext(endpoints, options, true);
  const discovery = new MemberDiscovery(shared);
  const context = { ...shared, onAnswer: () => discovery.onAnswer() };
  const keyValue = new KeyValueClient(context);
  const locks = new LockClient(context);
  const watch = new WatchClient(context);
  const sessions = new SessionClient(context);
  const optimistic = new OptimisticRunner(context, keyValue);
  return {
    keyValue,
    locks,
    readWriteLocks: new ReadWriteLockClient(context),
    semaphores: new SemaphoreClient(context),
    memory: new MemoryClient(context),
    sessions,
    session: (namespace, options = {}) => sessions.keep(namespace, options),
    watch,
    logs: new LogClient(context),
    keys: new ApiKeyClient(context),
    users: new UserClient(context),
    usage: new UsageClient(context),
    cluster: new ClusterClient(context),
    transaction: (namespace) => new Transaction(context, namespace),
    transact: (namespace, work, options = {}) => optimistic.run(namespace, work, options),
    batch: (namespace, writes, options = {}) => writeBatch(context, namespace, writes, options),
    election: (namespace, name) => new Election({ locks, watch }, namespace, name),
    close: () => shared.pool.close(),
  };
}
