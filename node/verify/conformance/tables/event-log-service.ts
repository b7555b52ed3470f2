/** EventLogService: creation, description, listing, change and deletion of logs, and who may see them. */

import { randomUUID } from "node:crypto";
import { type EventLog, ReadConsistency } from "@quoin/proto";
import { expect } from "chai";
import {
  answered,
  appendEvent,
  appendEvents,
  createdLog,
  createLog,
  deleteLog,
  expectFields,
  expectReplay,
  getLog,
  isAtLeast,
  isPositive,
  isUnixMs,
  isUuid,
  listLogs,
  newLog,
  readEventPage,
  replayed,
  type Table,
  type TestContext,
  tailEvents,
  until,
  updateLog,
} from "../harness/index.ts";

const NAME_BYTES_MAX = 256;
const PAGE_MAX = 1_000;
const SAFE_MAX = 2n ** 53n - 1n;
const WINDOW = "queue.duplicate_window_secs";
const AGE = "retention.max_age_secs";
const BYTES = "retention.max_bytes";
/** Lowest and highest value of each setting. */
const BOUNDS = [
  [WINDOW, 0n, 604_800n],
  [AGE, 1n, 315_360_000n],
  [BYTES, 1n, SAFE_MAX],
] as const;

/** The log as `GET /logs/{log_id}` answers it. */
function bodyOf(log: EventLog): object {
  const setting = (name: string) => (log.settings.has(name) ? Number(log.settings.get(name)) : null);
  return {
    log_id: log.logId,
    name: log.name,
    namespace: log.namespace,
    first_sequence: Number(log.firstSequence),
    last_sequence: Number(log.lastSequence),
    event_count: Number(log.eventCount),
    size_bytes: Number(log.sizeBytes),
    created_at: new Date(Number(log.createdAtMs)).toISOString(),
    created_by: log.createdBy,
    settings: { [WINDOW]: setting(WINDOW), [AGE]: setting(AGE), [BYTES]: setting(BYTES) },
  };
}

const creating: Table = {
  name: "CreateLog",
  entries: {
    "answers the whole log, which every member knows": async (context) => {
      const { namespace } = context;
      const name = context.name();
      const settings = new Map([
        [WINDOW, 60n],
        [BYTES, 1_000n],
      ]);
      const made = await context.ask(createLog, { namespace, name, settings });
      expectFields(made, { log: () => true, revision: isPositive });
      expectFields(made.log as EventLog, {
        logId: isUuid,
        name,
        namespace,
        firstSequence: 1n,
        lastSequence: 0n,
        eventCount: 0n,
        sizeBytes: 0n,
        createdAtMs: isUnixMs,
        createdBy: context.testRun.claims.sub,
        settings,
      });
      const found = await context.askElsewhere(getLog, { logId: made.log?.logId ?? "" });
      expectFields(found, { log: made.log, revision: isAtLeast(made.revision) });
    },
    "takes the namespace default if none is given": async (context) => {
      const log = await createdLog(context, { namespace: "" });
      context.atEnd(() => context.here.call(deleteLog, { logId: log.logId }));
      expect([log.namespace, log.settings.size]).to.deep.equal(["default", 0]);
      const { logs } = await context.askElsewhere(listLogs, { namespace: "default", name: log.name });
      expect(logs).to.deep.equal([log]);
    },
    "S19: takes names of 1 to 256 bytes, and gives them back as they are": async (context) => {
      const { namespace } = context;
      const prefix = context.name();
      const longest = prefix + "x".repeat(NAME_BYTES_MAX - prefix.length);
      for (const name of [`${prefix}'; DROP TABLE logs; --`, `${prefix}../\u0000\n\u{1F600}`, longest]) {
        const { logId } = await createdLog(context, { name });
        expect((await context.askElsewhere(getLog, { logId })).log?.name).to.equal(name);
      }
      for (const name of ["", `${longest}x`, "é".repeat(NAME_BYTES_MAX / 2 + 1)]) {
        await context.refuses(createLog, { namespace, name }, "BAD_FIELD", { field: "name" });
      }
    },
    "takes settings at their bounds, and refuses others and unknown ones by name": async (context) => {
      const { namespace } = context;
      for (const [name, minimum, maximum] of BOUNDS) {
        const field = `settings.${name}`;
        for (const value of [minimum, maximum]) {
          const { settings } = await createdLog(context, { settings: new Map([[name, value]]) });
          expect([...settings]).to.deep.equal([[name, value]]);
        }
        for (const value of name === BYTES ? [0n, -SAFE_MAX] : [minimum - 1n, maximum + 1n]) {
          const fields = { namespace, name: context.name(), settings: new Map([[name, value]]) };
          await context.refuses(createLog, fields, "BAD_FIELD", { field });
        }
      }
      for (const name of ["retention.max_byte", "__proto__", "", "Retention.max_bytes"]) {
        const fields = { namespace, name: context.name(), settings: new Map([[name, 5n]]) };
        await context.refuses(createLog, fields, "BAD_FIELD", { field: `settings.${name}` });
      }
    },
    "refuses a name that a log of the namespace has, as long as it has it": async (context) => {
      const { namespace } = context;
      const { name, logId } = await createdLog(context);
      await context.refuses(createLog, { namespace, name }, "LOG_EXISTS", { connection: context.elsewhere });
      await createdLog(context, { namespace: await context.newNamespace(), name });
      await context.ask(deleteLog, { logId });
      expect((await createdLog(context, { name }, context.elsewhere)).logId).to.not.equal(logId);
    },
  },
};

const describing: Table = {
  name: "GetLog",
  entries: {
    "answers the log, in any case of its id, with what was appended": async (context) => {
      const log = await createdLog(context);
      const { logId } = log;
      await context.askElsewhere(appendEvents, {
        logId,
        payloads: [Buffer.from("four"), Buffer.alloc(0)],
        idempotencyKey: "k",
      });
      const found = await context.ask(getLog, { logId: logId.toUpperCase() });
      expectFields(found, {
        log: { ...log, lastSequence: 2n, eventCount: 2n, sizeBytes: 4n },
        revision: isPositive,
      });
    },
    "SERIALIZABLE comes to see it": async (context) => {
      const { logId } = await createdLog(context, {}, context.elsewhere);
      await until("the member to have applied it", async () => {
        const fields = { logId, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(getLog, fields)).response?.log?.logId === logId;
      });
    },
    "answers as GET /logs/{log_id} does, whichever interface made the log": async (context) => {
      const settings = { [BYTES]: 1_000, [WINDOW]: 0 };
      const byHttp = await newLog(context, { namespace: context.namespace, settings });
      const byCall = await createdLog(context, { settings: new Map([[AGE, 100_000n]]) });
      for (const logId of [String(byHttp.log_id), byCall.logId]) {
        await context.ask(appendEvent, { logId, payload: Buffer.from("xyz") });
        const { log } = await context.ask(getLog, { logId });
        expect(answered(await context.httpElsewhere().call("GET", `/logs/${logId}`))).to.deep.equal(
          bodyOf(log as EventLog),
        );
      }
    },
  },
};

/** All logs of all pages. */
async function listed(context: TestContext, namespace: string, pageSize: number): Promise<readonly EventLog[]> {
  const found: EventLog[] = [];
  let pageToken = "";
  do {
    const page = await context.ask(listLogs, { namespace, pageSize, pageToken });
    expect(page.logs.length).to.be.at.most(pageSize);
    expect(page.revision > 0n).to.equal(true);
    found.push(...page.logs);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

const listing: Table = {
  name: "ListLogs",
  entries: {
    "S16: lists in the order of names, page by page": async (context) => {
      const namespace = await context.newNamespace();
      const nothing = await context.ask(listLogs, { namespace });
      expectFields(nothing, { logs: [], nextPageToken: "", revision: isPositive });
      const made: EventLog[] = [];
      for (const name of ["\u{1F600}", "\uffff", "ä", "b", "a"]) {
        made.unshift(await createdLog(context, { namespace, name }, context.elsewhere));
      }
      expect(await listed(context, namespace, PAGE_MAX)).to.deep.equal(made);
      expect(await listed(context, namespace, 2)).to.deep.equal(made);
      const [first] = made;
      const { logs } = await context.ask(listLogs, { namespace, name: first?.name ?? "" });
      expect(logs).to.deep.equal([first]);
    },
    "has pages of 100, and of 1,000 at most": async (context) => {
      const namespace = await context.newNamespace();
      await Promise.all(
        Array.from({ length: 101 }, () => createdLog(context, { namespace, name: context.name() }, context.elsewhere)),
      );
      const { logs, nextPageToken } = await context.ask(listLogs, { namespace });
      expect([logs.length, nextPageToken === ""]).to.deep.equal([100, false]);
      for (const pageSize of [-1, PAGE_MAX + 1]) {
        await context.refuses(listLogs, { namespace, pageSize }, "BAD_FIELD", { field: "page_size" });
      }
    },
    "finds a name in all namespaces that the caller may read, and only in these": async (context) => {
      const name = context.name();
      const own = await createdLog(context, { name });
      const namespace = await context.newNamespace();
      const other = await createdLog(context, { namespace, name });
      const found = async (connection = context.here) => {
        const { response } = await connection.call(listLogs, { name });
        return response?.logs.map(({ logId }) => logId);
      };
      expect(await found()).to.have.members([own.logId, other.logId]);
      const user = await context.newUser("viewer", [namespace]);
      const connection = context.testRun.at(context.here.endpoint, user.token);
      expect(await found(connection)).to.deep.equal([other.logId]);
      await context.refuses(listLogs, { namespace: context.namespace, name }, "NAMESPACE_DENIED", { connection });
    },
    "takes a page token only for the same namespace and name": async (context) => {
      const namespace = await context.newNamespace();
      const [one] = [await createdLog(context, { namespace }), await createdLog(context, { namespace })];
      const { nextPageToken: pageToken } = await context.ask(listLogs, { namespace, pageSize: 1 });
      expect(pageToken).to.not.equal("");
      for (const fields of [
        { namespace: context.namespace, pageToken },
        { namespace: "", pageToken },
        { namespace, name: one.name, pageToken },
        { namespace, pageToken: `${pageToken}x` },
        { namespace, pageToken: "x" },
      ]) {
        await context.refuses(listLogs, fields, "BAD_FIELD", { field: "page_token" });
      }
      const { logs } = await context.askElsewhere(listLogs, { namespace, pageSize: 5, pageToken });
      expect(logs).to.have.length(1);
    },
  },
};

const changing: Table = {
  name: "UpdateLog",
  entries: {
    "changes the settings that are named, and leaves the rest": async (context) => {
      const log = await createdLog(context, {
        settings: new Map([
          [WINDOW, 1n],
          [BYTES, 10n],
        ]),
      });
      const { logId } = log;
      const changed = await context.ask(updateLog, {
        logId,
        settings: new Map([
          [AGE, 5_000n],
          [WINDOW, 0n],
        ]),
        unsetSettings: [BYTES],
      });
      const settings = new Map([
        [WINDOW, 0n],
        [AGE, 5_000n],
      ]);
      expectFields(changed, { log: { ...log, settings }, revision: isPositive });
      expect((await context.askElsewhere(getLog, { logId })).log).to.deep.equal(changed.log);
      expect((await context.askElsewhere(updateLog, { logId })).log, "no change").to.deep.equal(changed.log);
      const { log: reset } = await context.ask(updateLog, { logId, unsetSettings: [WINDOW, AGE, BYTES] });
      expect(reset).to.deep.equal({ ...log, settings: new Map() });
    },
    "refuses settings that are out of bounds, unknown, or both set and unset": async (context) => {
      const { logId, settings } = await createdLog(context, { settings: new Map([[BYTES, 7n]]) });
      for (const [name, minimum, maximum] of BOUNDS) {
        for (const value of name === BYTES ? [0n] : [minimum - 1n, maximum + 1n]) {
          const fields = { logId, settings: new Map([[name, value]]) };
          await context.refuses(updateLog, fields, "BAD_FIELD", { field: `settings.${name}` });
        }
        const both = { logId, settings: new Map([[name, minimum]]), unsetSettings: [name] };
        await context.refuses(updateLog, both, "BAD_FIELD", { field: "unset_settings" });
      }
      const unknown = { logId, settings: new Map([["retention.max_byte", 5n]]) };
      await context.refuses(updateLog, unknown, "BAD_FIELD", { field: "settings.retention.max_byte" });
      expect((await context.askElsewhere(getLog, { logId })).log?.settings).to.deep.equal(settings);
    },
    "is, like DeleteLog, for the creator and for administrators": async (context) => {
      const user = await context.newUser("member");
      const creator = context.testRun.at(context.here.endpoint, user.token);
      const connection = context.testRun.at(context.here.endpoint, context.users.member.token);
      const own = await createdLog(context, {}, creator);
      expect(own.createdBy).to.equal(user.userId);
      const { logId } = own;
      await context.refuses(updateLog, { logId }, "ACCESS_DENIED", { connection });
      await context.refuses(deleteLog, { logId }, "ACCESS_DENIED", { connection });
      expect((await creator.call(updateLog, { logId })).code).to.equal("OK");
      await context.askElsewhere(updateLog, { logId });
      expect((await creator.call(deleteLog, { logId })).code).to.equal("OK");
      const { logId: foreign } = await createdLog(context);
      await context.refuses(deleteLog, { logId: foreign }, "ACCESS_DENIED", { connection: creator });
    },
  },
};

/** Every operation that names a log. */
async function refuseAll(context: TestContext, logId: string, connection = context.here): Promise<void> {
  const one = { connection };
  await context.refuses(getLog, { logId }, "LOG_NOT_FOUND", one);
  await context.refuses(updateLog, { logId }, "LOG_NOT_FOUND", one);
  await context.refuses(appendEvent, { logId }, "LOG_NOT_FOUND", one);
  const batch = { logId, payloads: [Buffer.alloc(1)], idempotencyKey: "k" };
  await context.refuses(appendEvents, batch, "LOG_NOT_FOUND", one);
  await context.refuses(readEventPage, { logId }, "LOG_NOT_FOUND", one);
  await context.refuses(tailEvents, { logId }, "LOG_NOT_FOUND", one);
  await context.refuses(deleteLog, { logId }, "LOG_NOT_FOUND", one);
}

const deleting: Table = {
  name: "DeleteLog",
  entries: {
    "deletes the log with its events, for every caller at every member": async (context) => {
      const { logId, name } = await createdLog(context);
      await context.ask(appendEvent, { logId, payload: Buffer.from("x") });
      expectFields(await context.ask(deleteLog, { logId }), { revision: isPositive });
      await refuseAll(context, logId, context.elsewhere);
      await refuseAll(context, logId);
      const next = await createdLog(context, { name });
      const { events, lastSequence } = await context.ask(readEventPage, { logId: next.logId });
      expect([events, lastSequence]).to.deep.equal([[], 0n]);
    },
    "S43: is refused, as all else, for a log of another namespace as for none": async (context) => {
      const { logId } = await createdLog(context);
      const token = context.users.admin.token;
      await refuseAll(context, logId, context.testRun.at(context.here.endpoint, token));
      await context.ask(getLog, { logId });
    },
  },
};

const repeating: Table = {
  name: "Replay by request id of operations on logs",
  entries: {
    "answers as the first time did, at any member": async (context) => {
      const { namespace } = context;
      await expectReplay(context, createLog, { namespace, name: context.name(), settings: new Map([[WINDOW, 0n]]) });
      const { logId } = await createdLog(context, { settings: new Map([[BYTES, 1_000n]]) });
      await expectReplay(context, updateLog, { logId, settings: new Map([[AGE, 9_000n]]), unsetSettings: [BYTES] });
      await expectReplay(context, appendEvent, { logId, payload: Buffer.from("one") });
      await expectReplay(context, appendEvent, { logId, payload: Buffer.from("two"), idempotencyKey: "k" });
      const payloads = ["three", "four"].map((text) => Buffer.from(text));
      await expectReplay(context, appendEvents, { logId, payloads, idempotencyKey: "k" });
      const { events } = await context.askElsewhere(readEventPage, { logId });
      expect(events.map(({ payload }) => String(payload))).to.deep.equal(["one", "two", "three", "four"]);
      await expectReplay(context, deleteLog, { logId });
    },
    "answers when the log is gone, and stores no refusal about a log that is not there": async (context) => {
      const { logId } = await createdLog(context);
      const requests = Array.from({ length: 3 }, () => ({ metadata: { "request-id": randomUUID() } }));
      const [appending, updating, removing] = requests as [object, object, object];
      const appended = await context.ask(appendEvent, { logId, payload: Buffer.from("x") }, appending);
      const updated = await context.ask(updateLog, { logId, settings: new Map([[AGE, 9_000n]]) }, updating);
      const removed = await context.ask(deleteLog, { logId }, removing);
      const again = [
        [await context.elsewhere.call(appendEvent, { logId, payload: Buffer.from("x") }, appending), appended],
        [await context.elsewhere.call(updateLog, { logId, settings: new Map([[AGE, 9_000n]]) }, updating), updated],
        [await context.elsewhere.call(deleteLog, { logId }, removing), removed],
      ] as const;
      for (const [answer, first] of again) {
        expect([answer.code, answer.response, replayed(answer)], answer.message).to.deep.equal(["OK", first, "true"]);
      }
      const refused = { metadata: { "request-id": randomUUID() } };
      for (const request of [{ logId }, { logId: randomUUID() }]) {
        expect(replayed(await context.refuses(deleteLog, request, "LOG_NOT_FOUND", refused))).to.equal(undefined);
      }
    },
    "S13: refuses the id with another payload or for another operation, and does nothing": async (context) => {
      const { logId } = await createdLog(context);
      const options = { metadata: { "request-id": randomUUID() } };
      await context.ask(appendEvent, { logId, payload: Buffer.from("x") }, options);
      for (const connection of [context.here, context.elsewhere]) {
        const there = { ...options, connection };
        await context.refuses(appendEvent, { logId, payload: Buffer.from("y") }, "REQUEST_ID_REUSED", there);
        const keyed = { logId, payload: Buffer.from("x"), idempotencyKey: "k" };
        await context.refuses(appendEvent, keyed, "REQUEST_ID_REUSED", there);
        await context.refuses(updateLog, { logId, unsetSettings: [AGE] }, "REQUEST_ID_REUSED", there);
        await context.refuses(deleteLog, { logId }, "REQUEST_ID_REUSED", there);
      }
      expect((await context.ask(getLog, { logId })).log?.eventCount).to.equal(1n);
    },
  },
};

export const eventLogService: readonly Table[] = [creating, describing, listing, changing, deleting, repeating];
