/** Deletion of namespaces: what it refuses, what goes with it, and what a namespace of the same name finds. */

import { expect } from "chai";
import {
  acquireLock,
  allocateMemory,
  appendEvent,
  countKeys,
  createLock,
  createLog,
  createNamespace,
  deleteNamespace,
  describeLock,
  follow,
  getKey,
  getLog,
  isAtLeast,
  listKeys,
  listKeyVersions,
  listLocks,
  listLogs,
  listMemoryRegions,
  listNamespaces,
  putKey,
  readMemory,
  type Table,
  type TestContext,
  tailEvents,
  transact,
  until,
  watchKeys,
  watchLocks,
} from "../harness/index.ts";

const KEY = "k";

async function newNamespace(context: TestContext): Promise<string> {
  const namespace = context.freeNamespaceName();
  await context.ask(createNamespace, { namespace });
  return namespace;
}

async function isListed(context: TestContext, namespace: string): Promise<boolean> {
  const { namespaces } = await context.ask(listNamespaces, { prefix: namespace });
  return namespaces.some(({ name }) => name === namespace);
}

function untilGone(context: TestContext, namespace: string): Promise<true> {
  return until("nothing is left of the namespace", async () => !(await isListed(context, namespace)));
}

const deleting: Table = {
  name: "DeleteNamespace",
  entries: {
    "deletes an empty namespace, whose name is free again afterwards": async (context) => {
      const namespace = await newNamespace(context);
      const { revision } = await context.ask(deleteNamespace, { namespace });
      await untilGone(context, namespace);
      await context.refuses(deleteNamespace, { namespace }, "NAMESPACE_NOT_FOUND");
      await context.refuses(getKey, { namespace, key: KEY }, "NAMESPACE_NOT_FOUND");
      const created = await context.ask(createNamespace, { namespace });
      expect(created.revision).to.satisfy(isAtLeast(revision + 1n));
    },
    "refuses a namespace with a key, a lock, a region or a log, unless it is recursive": async (context) => {
      const fillings: readonly [string, (namespace: string) => Promise<unknown>][] = [
        ["keys", (namespace) => context.ask(putKey, { namespace, key: KEY })],
        ["locks", (namespace) => context.ask(createLock, { namespace, name: "l" })],
        ["memory_regions", (namespace) => context.ask(allocateMemory, { namespace, sizeBytes: 1n })],
        ["event_logs", (namespace) => context.ask(createLog, { namespace, name: "e" })],
      ];
      for (const [what, fill] of fillings) {
        const namespace = await newNamespace(context);
        await fill(namespace);
        const { details } = await context.refuses(deleteNamespace, { namespace }, "NOT_EMPTY");
        expect(details?.metadata.get(what), what).to.equal("1");
        await context.ask(listKeys, { namespace });
        await context.askElsewhere(deleteNamespace, { namespace, recursive: true });
        await untilGone(context, namespace);
      }
    },
    "lets no request find anything in it from then on, and leaves its neighbours alone": async (context) => {
      const namespace = await newNamespace(context);
      const neighbour = `${namespace}-1`;
      await context.ask(createNamespace, { namespace: neighbour });
      const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes: 1n });
      const { log } = await context.ask(createLog, { namespace, name: "e" });
      const logId = log?.logId ?? "";
      await context.ask(appendEvent, { logId, payload: Buffer.from("1") });
      await context.ask(createLock, { namespace, name: "l" });
      for (const each of [namespace, neighbour]) {
        await context.ask(putKey, { namespace: each, key: KEY });
      }
      await context.askElsewhere(deleteNamespace, { namespace, recursive: true });
      for (let look = 0; look < 2; look++) {
        const key = { namespace, key: KEY };
        const lock = { namespace, name: "l" };
        await context.refuses(getKey, key, "NAMESPACE_NOT_FOUND");
        await context.refuses(putKey, key, "NAMESPACE_NOT_FOUND");
        await context.refuses(listKeys, { namespace }, "NAMESPACE_NOT_FOUND");
        await context.refuses(countKeys, { namespace }, "NAMESPACE_NOT_FOUND");
        await context.refuses(listKeyVersions, key, "NAMESPACE_NOT_FOUND");
        await context.refuses(describeLock, lock, "NAMESPACE_NOT_FOUND");
        await context.refuses(acquireLock, lock, "NAMESPACE_NOT_FOUND");
        await context.refuses(createLock, { namespace, name: "m" }, "NAMESPACE_NOT_FOUND");
        await context.refuses(listLocks, { namespace }, "NAMESPACE_NOT_FOUND");
        await context.refuses(readMemory, { namespace, regionId, length: 1n }, "NAMESPACE_NOT_FOUND");
        await context.refuses(listMemoryRegions, { namespace }, "NAMESPACE_NOT_FOUND");
        await context.refuses(transact, { namespace }, "NAMESPACE_NOT_FOUND");
        await context.refuses(createLog, { namespace, name: "f" }, "NAMESPACE_NOT_FOUND");
        await context.refuses(watchKeys, { namespace }, "NAMESPACE_NOT_FOUND");
        await context.refuses(getLog, { logId }, "LOG_NOT_FOUND");
        await context.refuses(appendEvent, { logId, payload: Buffer.from("2") }, "LOG_NOT_FOUND");
        await context.refuses(tailEvents, { logId }, "LOG_NOT_FOUND");
        expect((await context.ask(listLogs, { namespace })).logs).to.deep.equal([]);
        await untilGone(context, namespace);
      }
      expect((await context.ask(countKeys, { namespace: neighbour })).keys).to.equal(1n);
    },
    "ends watches and tails, and refuses requests that wait for locks": async (context) => {
      const namespace = await newNamespace(context);
      const lock = { namespace, name: "l" };
      await context.ask(createLock, lock);
      await context.ask(acquireLock, lock);
      const { log } = await context.ask(createLog, { namespace, name: "e" });
      const logId = log?.logId ?? "";
      await context.ask(appendEvent, { logId, payload: Buffer.from("1") });
      const keys = follow(context.here, watchKeys, { namespace });
      const locks = follow(context.elsewhere, watchLocks, { namespace });
      const tail = context.here.stream(tailEvents, { logId });
      await keys.until("the watch to be in place", ([first]) => first);
      await locks.until("the watch to be in place", ([first]) => first);
      await tail.until("the first event", ([first]) => first);
      const waiting = await context.queue(context.here, { ...lock, owner: "w" }, 0);
      await context.askElsewhere(deleteNamespace, { namespace, recursive: true });
      await context.expectRefusal(await waiting.answer, "NAMESPACE_NOT_FOUND");
      await context.expectRefusal(await keys.ended(), "NAMESPACE_NOT_FOUND");
      await context.expectRefusal(await locks.ended(), "NAMESPACE_NOT_FOUND");
      await context.expectRefusal(await tail.ended(), "LOG_NOT_FOUND");
      await untilGone(context, namespace);
    },
    "S28, S37: lets a namespace of the same name give greater tokens, and start no watch before": async (context) => {
      const namespace = await newNamespace(context);
      const lock = { namespace, name: "l" };
      await context.ask(createLock, lock);
      const { fencingToken } = await context.ask(acquireLock, lock);
      const { revision } = await context.ask(putKey, { namespace, key: KEY });
      await context.ask(deleteNamespace, { namespace, recursive: true });
      await untilGone(context, namespace);
      await context.ask(createNamespace, { namespace });
      await context.refuses(acquireLock, lock, "LOCK_NOT_FOUND");
      await context.ask(createLock, lock);
      expect((await context.ask(acquireLock, lock)).fencingToken > fencingToken).to.equal(true);
      expect((await context.ask(putKey, { namespace, key: KEY })).created).to.equal(true);
      await context.refuses(watchKeys, { namespace, startRevision: revision }, "COMPACTED");
    },
    "refuses the namespace that every cluster has, by the name of the field": async (context) => {
      const namespace = "default";
      await context.refuses(deleteNamespace, { namespace, recursive: true }, "BAD_FIELD", { field: "namespace" });
    },
  },
};

export const namespaces: readonly Table[] = [deleting];
