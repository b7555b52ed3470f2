/** Watches as server-sent events over HTTP. Their messages are those of the watches over gRPC, in JSON. */

import { expect } from "chai";
import {
  acquireLock,
  deleteKey,
  expectHttpRefusal,
  type HttpConnection,
  HttpEvents,
  putKey,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

/** A change of a key or of a lock, as far as these entries read it. */
interface Change {
  readonly type?: string;
  readonly action?: string;
  readonly kv?: { readonly key: string; readonly valueText?: string };
}

async function follow(connection: HttpConnection, target: string, lastSeen?: string): Promise<HttpEvents> {
  const events = await HttpEvents.open((lastId = lastSeen) => {
    return connection.open("GET", target, { headers: lastId === undefined ? {} : { "Last-Event-ID": lastId } });
  });
  const { statusCode, headers } = events.response;
  expect([statusCode, headers["content-type"]]).to.deep.equal([200, "text/event-stream"]);
  await events.first(1);
  return events;
}

/** All changes so far, each with the id of its message. */
function changesOf({ events }: HttpEvents): readonly (Change & { readonly id: string })[] {
  return events.flatMap(({ id, data }) => JSON.parse(data).events.map((change: Change) => ({ ...change, id })));
}

function changes(events: HttpEvents, count: number): Promise<ReturnType<typeof changesOf>> {
  return until(`${count} changes`, () => {
    const found = changesOf(events);
    return found.length >= count ? found : null;
  });
}

function keysOf({ namespace, prefix }: TestContext): string {
  return `/v1/watch/keys?namespace=${namespace}&prefix=${encodeURIComponent(prefix)}`;
}

export const watchEvents: Table = {
  name: "Watches over HTTP",
  entries: {
    "S37: report each change once and in order, and continue at any member after the last event": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const first = await follow(context.http(), keysOf(context));
      await context.askElsewhere(putKey, { ...key, value: Buffer.from("1") });
      const [seen] = await changes(first, 1);
      first.leave();
      await context.ask(putKey, { ...key, value: Buffer.from("2") });
      await context.askElsewhere(deleteKey, key);
      const again = await follow(context.httpElsewhere(), keysOf(context), seen?.id);
      await context.ask(putKey, { ...key, value: Buffer.from("3") });
      const told = (await changes(again, 3)).map(({ type, kv }) => [type, kv?.key, kv?.valueText]);
      again.leave();
      expect(told).to.deep.equal([
        ["PUT", key.key, "2"],
        ["DELETE", key.key, "2"],
        ["PUT", key.key, "3"],
      ]);
    },
    "S37: move the position while nothing changes": async (context) => {
      const events = await follow(context.http(), `${keysOf(context)}&progress_interval_ms=100`);
      await events.first(3);
      events.leave();
      const ids = events.events.map(({ id }) => BigInt(id));
      expect(ids).to.deep.equal(ids.toSorted((left, right) => Number(left - right)));
      expect(JSON.parse(events.events[1]?.data ?? "")).to.deep.include({ events: [], progress: true });
    },
    "report the holds of locks": async (context) => {
      const lock = await context.lock();
      const events = await follow(
        context.http(),
        `/v1/watch/locks?namespace=${lock.namespace}&name_prefix=${encodeURIComponent(lock.name)}`,
      );
      const { revision } = await context.askElsewhere(acquireLock, { ...lock, owner: "me" });
      const [change] = await changes(events, 1);
      events.leave();
      expect(change).to.deep.include({
        action: "ACQUIRED",
        lockKey: lock.name,
        owner: "me",
        revision: String(revision),
      });
      // A message may also cover later revisions, which changed other locks.
      expect(BigInt(change?.id ?? 0) >= revision).to.equal(true);
    },
    "are refused with a status if they cannot begin": async (context) => {
      const http = context.http();
      expectHttpRefusal(await http.call("GET", "/v1/watch/keys"), "invalid_request");
      expectHttpRefusal(await http.call("GET", "/v1/watch/keys?namespace=UPPER"), "invalid_request");
      const nowhere = `/v1/watch/keys?namespace=${context.freeNamespaceName()}`;
      expectHttpRefusal(await http.call("GET", nowhere), "not_found");
      expectHttpRefusal(await context.http(null).call("GET", keysOf(context)), "unauthorized");
    },
  },
};
