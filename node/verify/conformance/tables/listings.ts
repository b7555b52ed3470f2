/** Listings for people: locks with their queues, versions of keys, namespaces, streams, and counters of all members. */

import { KeyEvent_Type, LockState, OpenStream_Kind } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  claimsOf,
  deleteKey,
  follow,
  getCluster,
  getMemberCounters,
  listKeyVersions,
  listLocks,
  listLockWaits,
  listNamespaces,
  listStreams,
  NotApplicable,
  putKey,
  type Table,
  type TestContext,
  watchKeys,
} from "../harness/index.ts";

/** Skips the entry unless the token of the run is for an administrator of all namespaces. */
function requireAdministrator({ testRun }: TestContext): void {
  const { access, namespaces } = claimsOf(testRun.target.token);
  if (!(access.includes("admin") && namespaces.includes("*"))) {
    throw new NotApplicable("the token is not for an administrator of all namespaces");
  }
}

export const listings: readonly Table[] = [
  {
    name: "Listings of locks",
    entries: {
      "show the holder, the queue in its order, and the refused writes, at every member": async (context) => {
        const lock = await context.lock();
        const { namespace, name } = lock;
        const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "holder" });
        await context.queue(context.here, { ...lock, owner: "first" }, 0);
        await context.queue(context.elsewhere, { ...lock, owner: "second" }, 1);
        const guard = { lockName: name, fencingToken: fencingToken + 1n, rw: false };
        await context.refuses(putKey, { namespace, key: context.name(), guard }, "FENCED");
        for (const ask of [context.ask.bind(context), context.askElsewhere.bind(context)]) {
          const { locks, nextPageToken } = await ask(listLocks, { namespace, namePrefix: name, waitsMax: 1 });
          expect(nextPageToken).to.equal("");
          const [listed] = locks.filter((one) => one.name === name);
          expect(listed?.state).to.equal(LockState.HELD);
          expect(listed?.holders.map((hold) => [hold.owner, hold.fencingToken])).to.deep.equal([
            ["holder", fencingToken],
          ]);
          expect(listed?.waits.map(({ owner, place }) => [owner, place])).to.deep.equal([["first", 1]]);
          expect([listed?.waitingWriters, listed?.refusedGuards]).to.deep.equal([2, 1n]);
          const { waits } = await ask(listLockWaits, lock);
          expect(waits.map(({ owner, place }) => [owner, place])).to.deep.equal([
            ["first", 1],
            ["second", 2],
          ]);
        }
      },
    },
  },
  {
    name: "Listings of versions and namespaces",
    entries: {
      "show every version of a key, also across a deletion, at every member": async (context) => {
        const { namespace } = context;
        const named = { namespace, key: context.name() };
        const first = await context.ask(putKey, { ...named, value: Buffer.from("1") });
        const removed = await context.ask(deleteKey, named);
        const second = await context.ask(putKey, { ...named, value: Buffer.from("2") });
        const expected = [
          [KeyEvent_Type.PUT, "2", second.modRevision],
          [KeyEvent_Type.DELETE, "1", removed.revision],
          [KeyEvent_Type.PUT, "1", first.modRevision],
        ];
        for (const ask of [context.ask.bind(context), context.askElsewhere.bind(context)]) {
          const shown: unknown[] = [];
          let pageToken = "";
          do {
            const page = await ask(listKeyVersions, { ...named, pageSize: 1, pageToken });
            shown.push(...page.versions.map(({ type, kv }) => [type, String(kv?.value), kv?.modRevision]));
            pageToken = page.nextPageToken;
          } while (pageToken !== "" && shown.length < expected.length);
          expect(shown).to.deep.equal(expected);
        }
      },
      "show a namespace to callers that may read it, and to no others": async (context) => {
        const { namespace } = context;
        const named = async (token: string) => {
          const connection = context.testRun.at(context.here.endpoint, token);
          const { response } = await connection.call(listNamespaces, { prefix: namespace, namesOnly: true });
          return response?.namespaces.map(({ name }) => name);
        };
        expect(await named(context.testRun.target.token)).to.include(namespace);
        const other = context.otherToken("for some namespaces only", ({ namespaces }) => !namespaces.includes("*"));
        expect(await named(other)).to.not.include(namespace);
      },
    },
  },
  {
    name: "Listings of streams and counters",
    entries: {
      "show the streams of every member through this one": async (context) => {
        requireAdministrator(context);
        const { namespace, prefix } = context;
        const watch = follow(context.elsewhere, watchKeys, { namespace, prefix });
        try {
          await watch.until("the watch is active", ([first]) => first);
          const { members } = await context.ask(getCluster, {});
          const found: [OpenStream_Kind, string][] = [];
          for (const { id } of members) {
            let pageToken = "";
            do {
              const page = await context.ask(listStreams, { namespace, memberId: id, pageToken });
              expect(page.memberId).to.equal(id);
              found.push(...page.streams.map(({ kind, prefix: of }) => [kind, of] as [OpenStream_Kind, string]));
              pageToken = page.nextPageToken;
            } while (pageToken !== "");
          }
          expect(found).to.deep.include([OpenStream_Kind.KEYS, prefix]);
        } finally {
          watch.cancel();
        }
      },
      "show the state and the counters of every member through this one": async (context) => {
        requireAdministrator(context);
        const { members } = await context.ask(getCluster, {});
        const { members: counted } = await context.ask(getMemberCounters, { windowSeconds: 60 });
        expect(counted.map(({ id }) => id)).to.have.members(members.map(({ id }) => id));
        for (const { problem, status, samples } of counted) {
          expect([problem, status?.version === ""]).to.deep.equal(["", false]);
          expect(samples.length).to.be.at.most(13);
        }
      },
    },
  },
];
