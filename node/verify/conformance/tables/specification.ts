/**
 * A client that is written only from the public specification: three headers, the operations by their names, the
 * parameters that the specification mentions and no others, its status codes. Whatever the service has beyond that must
 * not be needed. It shares nothing with the other tables but names, addresses and the token.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ChannelCredentials,
  credentials,
  Client as GrpcClient,
  Metadata,
  type MethodDefinition,
  type requestCallback,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import * as proto from "@quoin/proto";
import { expect } from "chai";
import type { Table, TestContext } from "../harness/index.ts";

const RETRY_DELAY_MS = 50;
/** The last one takes half a minute, independent of the service. */
const ATTEMPTS_MAX = 16;

const { KeyValueService: keys, LockService: locks, MemoryService: memory } = proto.serviceDefinitions;

interface Options {
  readonly requestId?: string;
  readonly timeoutMs?: number;
  readonly token?: string;
}

/** Everything that a program needs to use the service. */
class Client {
  readonly #client: GrpcClient;
  readonly #token: string;

  constructor(endpoint: string, security: ChannelCredentials, token: string) {
    this.#token = token;
    this.#client = new GrpcClient(endpoint, security);
  }

  /** Calls the operation once; rejects with the error of the library. */
  call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Response>,
    request: Request,
    { requestId = randomUUID(), timeoutMs, token = this.#token }: Options = {},
  ): Promise<Response> {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    metadata.set("api-version", "v1");
    metadata.set("request-id", requestId);
    const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      const answered: requestCallback<Response> = (error, response) => {
        if (error !== null) {
          reject(error);
        } else {
          resolve(response as Response);
        }
      };
      this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, options, answered);
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** Runs `use` with a client of the member under test and one of another member. */
async function withClients(
  context: TestContext,
  use: (here: Client, elsewhere: Client) => Promise<void>,
): Promise<void> {
  const { token, ca } = context.testRun.target;
  const security = ca === undefined ? credentials.createInsecure() : credentials.createSsl(ca);
  const clients = [context.here, context.elsewhere].map(({ endpoint }) => new Client(endpoint, security, token));
  const [here, elsewhere] = clients as [Client, Client];
  try {
    await use(here, elsewhere);
  } finally {
    for (const client of clients) {
      client.close();
    }
  }
}

/** The code and message with which the call fails. */
async function failure(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
  } catch (error) {
    const { code, details } = error as ServiceError;
    expect(details, "a descriptive message").to.not.equal("");
    return status[code];
  }
  return "OK";
}

export const specification: Table = {
  name: "A client written from the specification alone",
  entries: {
    "keeps keys and values in namespaces, and swaps atomically": async (context) => {
      await withClients(context, async (here, elsewhere) => {
        const namespace = context.freeNamespaceName();
        const make = proto.CreateNamespaceRequest.fromPartial({ namespace });
        await here.call(keys.createNamespace, make);
        expect(await failure(elsewhere.call(keys.createNamespace, make))).to.equal("ALREADY_EXISTS");
        const key = { namespace, key: "configuration" };
        const get = proto.GetKeyRequest.fromPartial(key);
        expect(await failure(here.call(keys.getKey, get))).to.equal("NOT_FOUND");
        const put = proto.PutKeyRequest.fromPartial({ ...key, value: Buffer.from("one") });
        await here.call(keys.putKey, put);
        const { value } = await elsewhere.call(keys.getKey, get);
        expect(value, "one consistent order, at whichever member").to.deep.equal(Buffer.from("one"));
        const swap = proto.CompareAndSwapRequest.fromPartial({
          ...key,
          expectedValue: Buffer.from("one"),
          newValue: Buffer.from("two"),
        });
        const outcomes = await Promise.all([
          here.call(keys.compareAndSwap, swap),
          elsewhere.call(keys.compareAndSwap, swap),
        ]);
        expect(outcomes.map(({ success }) => success).sort()).to.deep.equal([false, true]);
        const list = proto.ListKeysRequest.fromPartial({ namespace });
        const { items } = await here.call(keys.listKeys, list);
        expect(items.map((item) => item.key)).to.deep.equal(["configuration"]);
        const remove = proto.DeleteKeyRequest.fromPartial(key);
        await elsewhere.call(keys.deleteKey, remove);
        expect(await failure(here.call(keys.deleteKey, remove))).to.equal("NOT_FOUND");
      });
    },
    "locks and unlocks, with a life in seconds": async (context) => {
      await withClients(context, async (here, elsewhere) => {
        const lock = { namespace: context.namespace, name: context.name(), ttlSeconds: 1n };
        const acquire = proto.AcquireLockRequest.fromPartial(lock);
        expect(await failure(here.call(locks.acquireLock, acquire))).to.equal("NOT_FOUND");
        await here.call(locks.createLock, proto.CreateLockRequest.fromPartial(lock));
        const again = proto.CreateLockRequest.fromPartial(lock);
        expect(await failure(here.call(locks.createLock, again))).to.equal("ALREADY_EXISTS");
        expect((await here.call(locks.acquireLock, acquire)).acquired).to.equal(true);
        // It is not released: its life ends.
        for (;;) {
          const { acquired } = await elsewhere.call(locks.acquireLock, acquire);
          if (acquired) {
            break;
          }
          await sleep(RETRY_DELAY_MS);
        }
        const describe = proto.DescribeLockRequest.fromPartial(lock);
        expect((await here.call(locks.describeLock, describe)).name).to.equal(lock.name);
        const release = proto.ReleaseLockRequest.fromPartial(lock);
        await elsewhere.call(locks.releaseLock, release).catch(() => undefined);
        await here.call(locks.forceReleaseLock, proto.ForceReleaseLockRequest.fromPartial(lock));
      });
    },
    "shares read-write locks": async (context) => {
      await withClients(context, async (here, elsewhere) => {
        const lock = { namespace: context.namespace, name: context.name(), ttlSeconds: 60n };
        await here.call(locks.createRWLock, proto.CreateRWLockRequest.fromPartial(lock));
        const read = proto.AcquireRWLockRequest.fromPartial({ ...lock, mode: proto.RWMode.READ });
        const write = proto.AcquireRWLockRequest.fromPartial({ ...lock, mode: proto.RWMode.WRITE });
        const outcomes = [await here.call(locks.acquireRWLock, read), await elsewhere.call(locks.acquireRWLock, write)];
        expect(outcomes.map(({ acquired }) => acquired)).to.deep.equal([true, false]);
        await here.call(locks.releaseRWLock, proto.ReleaseRWLockRequest.fromPartial(lock));
        expect((await elsewhere.call(locks.acquireRWLock, write)).acquired).to.equal(true);
        const describe = proto.DescribeRWLockRequest.fromPartial(lock);
        expect((await here.call(locks.describeRWLock, describe)).name).to.equal(lock.name);
        await here.call(locks.releaseRWLock, proto.ReleaseRWLockRequest.fromPartial(lock));
      });
    },
    "allocates, writes, reads, resizes, lists and frees memory": async (context) => {
      await withClients(context, async (here, elsewhere) => {
        const { namespace } = context;
        const allocate = proto.AllocateMemoryRequest.fromPartial({ namespace, sizeBytes: 1_024n });
        const { regionId } = await here.call(memory.allocateMemory, allocate);
        const region = { namespace, regionId };
        const write = proto.WriteMemoryRequest.fromPartial({ ...region, offset: 10n, data: Buffer.from("hello") });
        await here.call(memory.writeMemory, write);
        const read = proto.ReadMemoryRequest.fromPartial({ ...region, offset: 10n, length: 5n });
        const { data } = await elsewhere.call(memory.readMemory, read);
        expect(Buffer.from(data).toString()).to.equal("hello");
        const resize = proto.ResizeMemoryRequest.fromPartial({ ...region, sizeBytes: 2_048n });
        await elsewhere.call(memory.resizeMemory, resize);
        await here.call(memory.describeMemory, proto.DescribeMemoryRequest.fromPartial(region));
        const list = proto.ListMemoryRegionsRequest.fromPartial({ namespace });
        await here.call(memory.listMemoryRegions, list);
        await here.call(memory.freeMemory, proto.FreeMemoryRequest.fromPartial(region));
        expect(await failure(elsewhere.call(memory.readMemory, read))).to.equal("NOT_FOUND");
      });
    },
    "retries with the same request id and backoff until it knows, and has done it once": async (context) => {
      await withClients(context, async (here, elsewhere) => {
        const key = { namespace: context.namespace, key: context.name() };
        const swap = proto.CompareAndSwapRequest.fromPartial({ ...key, newValue: Buffer.from("mine") });
        const requestId = randomUUID();
        for (let attempt = 1; ; attempt++) {
          const client = attempt % 2 === 0 ? elsewhere : here;
          try {
            // So short that the first attempts may time out before the answer.
            const options = { requestId, timeoutMs: 2 ** (attempt - 1) };
            const { success } = await client.call(keys.compareAndSwap, swap, options);
            expect(success, "whichever attempt did it").to.equal(true);
            return;
          } catch (error) {
            const { code } = error as ServiceError;
            if ((code !== status.DEADLINE_EXCEEDED && code !== status.UNAVAILABLE) || attempt === ATTEMPTS_MAX) {
              throw error;
            }
            await sleep(RETRY_DELAY_MS);
          }
        }
      });
    },
    "learns from the status what is wrong with its credential": async (context) => {
      await withClients(context, async (here) => {
        const get = proto.GetKeyRequest.fromPartial({ namespace: context.namespace, key: "k" });
        const call = here.call(keys.getKey, get, { token: "not.a.token" });
        expect(await failure(call)).to.equal("UNAUTHENTICATED");
        const token = context.otherToken("for some namespaces only", ({ namespaces }) => !namespaces.includes("*"));
        const denied = here.call(keys.getKey, get, { token });
        expect(await failure(denied)).to.equal("PERMISSION_DENIED");
      });
    },
  },
};
