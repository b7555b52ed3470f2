import { ReadConsistency } from "@quoin/proto";
import { expect } from "chai";
import { FakeTime, SingleReplica } from "../../../test/harness/index.ts";
import { FoundedCluster, secrets } from "../../../test/index.ts";
import {
  type Access,
  CoordinationError,
  derivedIdText,
  type EventLog,
  includesAccess,
  includesNamespace,
  type LogGuard,
  Payloads,
  type Replayed,
  type RequiredAccess,
  refusalOf,
  SequenceRuns,
} from "../../state/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, type EventMessage, NamespaceStreams } from "../../watch/index.ts";
import type { CancellableCall, Reply } from "./call.ts";
import {
  type Appended,
  type AppendFields,
  type DescribedLog,
  EventLogMethods,
  type EventPage,
  type ListedLogs,
  type OpenTail,
} from "./event-log-methods.ts";
import { Executor } from "./executor.ts";
import type { SettingsFields } from "./log-field-rules.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-81[0-9a-f]{2}-[0-9a-f]{12}$/;
const ABSENT = "00000000-0000-4000-8000-000000000000";
const { LINEARIZABLE } = ReadConsistency;

/** The limits of a token. */
interface Claims {
  readonly access: readonly Access[];
  readonly namespaces: readonly string[];
}

const EVERYTHING: Claims = { access: ["admin"], namespaces: ["*"] };

/** The reason of a refusal, and the field if one is wrong. */
function verdict(answer: unknown): readonly string[] {
  if (!(answer instanceof CoordinationError)) {
    throw answer instanceof Error ? answer : new Error("was not refused");
  }
  const field = answer.details.get("field");
  return [answer.reason, ...(field === undefined ? [] : [field])];
}

/** The response of a call that must succeed. */
function ok<Response>(answer: Response | Error): Response {
  if (answer instanceof Error) {
    throw answer;
  }
  return answer;
}

function textsOf({ events }: EventMessage): string[] {
  return events.map(({ sequence, payload }) => `${sequence} ${Buffer.from(payload).toString()}`);
}

describe("event log methods", () => {
  let cluster: FoundedCluster;
  let replica: SingleReplica;
  let time: FakeTime;
  let hub: EventHub;
  let streams: NamespaceStreams;
  let methods: EventLogMethods;
  /** Checks of the caller's access since the last reset. */
  let accessChecks: number;
  let replayed: Replayed;
  /** Simulates that the client of the last call has gone. */
  let leave: () => void;

  beforeEach(() => {
    accessChecks = 0;
    cluster = new FoundedCluster();
    replica = new SingleReplica(cluster);
    time = new FakeTime();
    const member = { replica };
    streams = new NamespaceStreams();
    const limits = DEFAULT_EVENT_HUB_LIMITS;
    hub = new EventHub({ member, clock: time, scheduler: time, limits, namespaceStreams: streams });
    methods = new EventLogMethods(member, new Executor(member), hub, time);
  });

  function call(claims: Claims = EVERYTHING): CancellableCall {
    const principal = { subject: cluster.ownerId, apiKeyId: cluster.apiKeyId };
    const check = (need: RequiredAccess | null): void => {
      accessChecks++;
      if (need !== null && need.namespace !== null && !includesNamespace(claims.namespaces, need.namespace)) {
        throw new CoordinationError("NAMESPACE_DENIED", "the token does not cover the namespace");
      }
      if (need !== null && !includesAccess(claims.access, need.access)) {
        throw new CoordinationError("ACCESS_DENIED", "the token does not give the access");
      }
      const refusal = refusalOf(cluster.state, principal, need, cluster.clock.wall);
      if (refusal !== null) {
        throw refusal;
      }
    };
    return {
      principal,
      deadlineMs: 10_000,
      trace: null,
      isGone: false,
      authorize: (need) => check(need) as undefined,
      recheck: check,
      charge: () => undefined,
      hasRequestId: false,
      requestId: () => expect.fail("there is no request id"),
      onGone: (listener) => {
        leave = listener;
      },
    };
  }

  function answerOf<Response>(start: (reply: Reply<Response>) => void): Promise<Response | Error> {
    return new Promise((resolve) => {
      start((answer, wasReplayed) => {
        replayed = wasReplayed;
        resolve(answer);
      });
    });
  }

  const logOf = async (answer: Promise<DescribedLog | Error>): Promise<EventLog | Error> => {
    const described = await answer;
    return described instanceof Error ? described : described.log;
  };
  const create = (fields: Partial<Parameters<typeof methods.createLog>[1]> = {}, claims = EVERYTHING) =>
    logOf(
      answerOf<DescribedLog>((reply) =>
        methods.createLog(call(claims), { name: "l", namespace: null, settings: new Map(), ...fields }, reply),
      ),
    );
  const idOf = async (log: ReturnType<typeof create>) => derivedIdText(ok(await log).logId);
  const describeLog = (logId: string, claims = EVERYTHING) =>
    logOf(
      answerOf<DescribedLog>((reply) => {
        methods.getLog(call(claims), { logId, consistency: LINEARIZABLE }, reply);
      }),
    );
  /** Appends as HTTP does: it looks for the log before the events arrive. */
  const appendTo = async <Message>(
    logId: string,
    start: (found: Uint8Array, reply: Reply<Message>) => void,
    { guard = undefined as LogGuard | undefined, claims = EVERYTHING } = {},
  ): Promise<Message | Error> => {
    const target = { logId, guardNamespace: guard?.namespace ?? null };
    const found = await answerOf<Uint8Array>((reply) => methods.findAppendable(call(claims), target, reply));
    return found instanceof Error ? found : answerOf<Message>((reply) => start(found, reply));
  };
  const append = (logId: string, payload: string, fields: Partial<AppendFields> = {}, claims = EVERYTHING) => {
    const asked = fieldsOf([Buffer.from(payload)], { isBatch: false, idempotencyKey: null, ...fields });
    return appendTo<Appended>(
      logId,
      (found, reply) =>
        methods.append(call(claims), { logId: found, guardNamespace: null, fields: () => asked }, reply),
      { guard: asked.guard, claims },
    );
  };
  const appendBatch = (logId: string, events: readonly Uint8Array[], isFound = true) => {
    const asked = { guardNamespace: null, fields: () => fieldsOf(events) };
    return isFound
      ? appendTo<Appended>(logId, (found, reply) => methods.append(call(), { logId: found, ...asked }, reply))
      : answerOf<Appended>((reply) => methods.append(call(), { logId, ...asked }, reply));
  };
  const read = (logId: string, fields: Partial<Parameters<typeof methods.readEvents>[1]> = {}, claims = EVERYTHING) =>
    answerOf<EventPage>((reply) => {
      const request = { logId, fromSequence: 0n, pageSize: 0, waitSeconds: 0n, consistency: LINEARIZABLE, ...fields };
      methods.readEvents(call(claims), request, reply);
    });
  /** Changes settings as HTTP does: it looks for the log before the body arrives. */
  const update = async (logId: string, changes: SettingsFields, claims = EVERYTHING): Promise<EventLog | Error> => {
    const found = await answerOf<Uint8Array>((reply) => methods.findManageable(call(claims), logId, reply));
    const request = { settings: () => changes };
    return found instanceof Error
      ? found
      : logOf(answerOf<DescribedLog>((reply) => methods.updateLog(call(claims), { logId: found, ...request }, reply)));
  };
  const remove = (logId: string) => answerOf<unknown>((reply) => methods.deleteLog(call(), logId, reply));
  const list = (fields: Partial<Parameters<typeof methods.listLogs>[1]> = {}, claims = EVERYTHING) =>
    answerOf<ListedLogs>((reply) => {
      const request = { pageSize: 0, pageToken: "", name: null, namespace: null, consistency: LINEARIZABLE, ...fields };
      methods.listLogs(call(claims), request, reply);
    });

  const tail = (logId: string, fromSequence: bigint) =>
    answerOf<OpenTail>((reply) => methods.tailEvents(call(), { logId, fromSequence }, reply));

  /** Runs the callbacks of promises that are resolved or rejected. */
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  it("creates, describes, appends, reads, changes and deletes a log", async () => {
    const created = ok(await create({ namespace: "default", settings: new Map([["retention.max_bytes", 1_000]]) }));
    const logId = derivedIdText(created.logId);
    expect(logId).match(UUID);
    const fresh = {
      name: "l",
      namespace: "default",
      firstSequence: 1,
      lastSequence: 0,
      sizeBytes: 0,
      createdAtMs: Date.parse("2025-06-15T15:06:40.250Z"),
      createdBy: cluster.ownerId,
      settings: { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: 1_000 },
    };
    expect(created).deep.include(fresh);
    expect(ok(await append(logId, "a"))).include({ lastSequence: 1, appendedEvents: 1, hasRuns: true });
    const batch = await appendBatch(logId, [Buffer.from("b"), Buffer.from("cc")], false);
    expect(batch).deep.include({ lastSequence: 3, runs: SequenceRuns.one(0, 2, 2) });
    expect(ok(await describeLog(logId))).include({ lastSequence: 3, firstSequence: 1, sizeBytes: 4 });
    const timestampMs = Date.parse("2025-06-15T15:06:40.250Z");
    const { events, log } = ok(await read(logId, { fromSequence: 2n }));
    expect(events).deep.equal([
      { sequence: 2, timestampMs, payload: Uint8Array.of(0x62), idempotencyKey: "b:0" },
      { sequence: 3, timestampMs, payload: Uint8Array.of(0x63, 0x63), idempotencyKey: "b:1" },
    ]);
    expect(log.lastSequence).equal(3);
    const changes = new Map([
      ["queue.duplicate_window_secs", 0],
      ["retention.max_bytes", null],
    ]);
    const changed = await update(logId, changes);
    const expected = { duplicateWindowSecs: 0, retentionMaxAgeSecs: null, retentionMaxBytes: null };
    expect(ok(changed).settings).deep.equal(expected);
    const remove = () => answerOf((reply) => methods.deleteLog(call(), logId.toUpperCase(), reply));
    expect(await remove()).deep.include({ kind: "delete-log", logId: created.logId });
    expect(verdict(await remove())).deep.equal(["LOG_NOT_FOUND"]);
    for (const answer of [await describeLog(logId), await read(logId), await append(logId, "x")]) {
      expect(verdict(answer)).deep.equal(["LOG_NOT_FOUND"]);
    }
  });

  describe("with a request id", () => {
    const requestId = Uint8Array.of(...new Uint8Array(15), 7);
    const retryable = (claims: Claims): CancellableCall => ({
      ...call(claims),
      hasRequestId: true,
      requestId: () => requestId,
    });
    const appendOnce = (logId: string, claims = EVERYTHING) => {
      const fields = () => fieldsOf([Buffer.from("a")], { isBatch: false, idempotencyKey: null });
      return answerOf<Appended>((reply) =>
        methods.append(retryable(claims), { logId, guardNamespace: null, fields }, reply),
      );
    };
    const removeOnce = (logId: string, claims = EVERYTHING) =>
      answerOf<unknown>((reply) => methods.deleteLog(retryable(claims), logId, reply));
    const updateOnce = (logId: string, claims = EVERYTHING) =>
      answerOf<DescribedLog>((reply) =>
        methods.updateLog(retryable(claims), { logId, settings: () => new Map() }, reply),
      );
    const elsewhere: Claims = { access: ["write"], namespaces: ["elsewhere"] };

    it("proposes nothing for a log that this member learns of by the barrier, if the token does not cover it", async () => {
      const first = await idOf(create());
      ok(await remove(first));
      // The entry after the deletion creates the next one.
      const last = Number.parseInt(first.slice(-12), 16) + 2;
      const next = first.slice(0, -12) + last.toString(16).padStart(12, "0");
      const owner = { subject: cluster.ownerId, apiKeyId: cluster.apiKeyId };
      const settings = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };
      const made = { kind: "create-log", name: "l", namespace: "default", settings } as const;
      for (const run of [appendOnce, removeOnce, updateOnce]) {
        let isMade = false;
        cluster.onBarrier = (done) => {
          if (!isMade && run === appendOnce) {
            replica.execute({ principal: owner, operation: made, request: null });
          }
          isMade = true;
          done(null);
        };
        const before = replica.proposed.length;
        expect(verdict(await run(next, elsewhere))).deep.equal(["LOG_NOT_FOUND"]);
        expect(replica.proposed.length).equal(before);
      }
      expect(ok(await describeLog(next)).lastSequence).equal(0);
    });

    it("answers the retry of a change whose log is gone, without a proposal, and stores no refusal", async () => {
      for (const run of [appendOnce, removeOnce, updateOnce]) {
        requestId[0] = (requestId[0] ?? 0) + 1;
        const logId = await idOf(create());
        const first = ok(await run(logId));
        if (run !== removeOnce) {
          ok(await remove(logId));
        }
        const before = replica.proposed.length;
        expect(await run(logId)).deep.include(run === updateOnce ? { log: (first as DescribedLog).log } : {});
        expect(replayed).equal("yes");
        requestId[0] += 1;
        expect(verdict(await run(logId))).deep.equal(["LOG_NOT_FOUND"]);
        expect(replica.proposed.length).equal(before);
      }
    });

    it("does not show a log in the answer to a retry by a token that does not cover it", async () => {
      const logId = await idOf(create());
      ok(await updateOnce(logId));
      ok(await updateOnce(logId));
      expect(replayed).equal("yes");
      ok(await remove(logId));
      const refused = await updateOnce(logId, elsewhere);
      expect(refused).include({ reason: "LOG_NOT_FOUND", outcome: "unknown" });
    });
  });

  describe("finds its log once in a call, and hands it on", () => {
    let logId: string;
    beforeEach(async () => {
      logId = await idOf(create());
      ok(await append(logId, "a"));
    });

    const guard = { namespace: "default", lockName: "none", fencingToken: 1, rw: false };
    const cases: readonly (readonly [name: string, run: () => Promise<unknown>, checks: string])[] = [
      ["an append", () => append(logId, "b"), "write, the log's namespace"],
      ["a guarded append", () => append(logId, "b", { guard }), "the guard, the log's namespace"],
      ["a change of settings", () => update(logId, new Map()), "write, the log's namespace, managing"],
      ["a deletion", () => remove(logId), "write, the log's namespace, managing"],
      ["a description", () => describeLog(logId), "read; read, the log's namespace after the barrier"],
      ["a page", () => read(logId), "read; read, the log's namespace after the barrier"],
      ["the opening of a tail", () => tail(logId, 0n), "read; read, the log's namespace after the barrier"],
    ];
    for (const [name, run, checks] of cases) {
      it(`${name}: checks ${checks}`, async () => {
        const { state } = cluster;
        const id = Buffer.from(logId.replaceAll("-", ""), "hex");
        const get = state.get.bind(state);
        let reads = 0;
        state.get = (key) => {
          // The row of the log itself: only the name of the table is before the id.
          reads += Number(Buffer.from(key).indexOf(id) === 1 && key.length === id.length + 1);
          return get(key);
        };
        const { onPropose } = replica;
        // Apply looks at the log for itself.
        replica.onPropose = (command, done) => {
          const before = reads;
          onPropose(command, done);
          reads = before;
        };
        accessChecks = 0;
        const answer = await run();
        expect(answer instanceof Error ? verdict(answer) : []).deep.equal(
          name === "a guarded append" ? ["FENCED"] : [],
        );
        expect(reads, "reads of the log").equal(1);
        expect(accessChecks, "checks of the caller's access").equal(checks.split(/[,;]/).length);
      });
    }
  });

  it("appends nothing to a log that is deleted while the events arrive", async () => {
    const logId = await idOf(create());
    const answer = await appendTo<Appended>(logId, (found, reply) => {
      methods.deleteLog(call(), logId, (deleted) => {
        expect(deleted).include({ kind: "delete-log" });
        const fields = () => fieldsOf([Buffer.from("a")], { isBatch: false, idempotencyKey: null });
        methods.append(call(), { logId: found, guardNamespace: null, fields }, reply);
      });
    });
    expect(verdict(answer)).deep.equal(["LOG_NOT_FOUND"]);
  });

  it("gives a retry with its request id the answer that is stored, also if the log is gone since", async () => {
    const logId = await idOf(create());
    const asked = (id: number) => ({ ...call(), hasRequestId: true, requestId: () => new Uint8Array(16).fill(id) });
    const appendOnce = () =>
      answerOf<Appended>((reply) => {
        const fields = () => fieldsOf([Buffer.from("a")], { isBatch: false, idempotencyKey: null });
        methods.append(asked(1), { logId, guardNamespace: null, fields }, reply);
      });
    const removeOnce = () => answerOf<unknown>((reply) => methods.deleteLog(asked(2), logId, reply));
    expect([ok(await appendOnce()).lastSequence, replayed]).deep.equal([1, "no"]);
    expect([ok(await appendOnce()).lastSequence, replayed]).deep.equal([1, "yes"]);
    for (const expected of ["no", "yes", "yes"]) {
      expect(await removeOnce()).include({ kind: "delete-log" });
      expect(replayed).equal(expected);
    }
    expect([ok(await appendOnce()).lastSequence, replayed]).deep.equal([1, "yes"]);
    const other = answerOf<unknown>((reply) => methods.deleteLog(asked(3), logId, reply));
    expect(verdict(await other)).deep.equal(["LOG_NOT_FOUND"]);
  });

  it("reports an append that stored nothing as a duplicate", async () => {
    const logId = await idOf(create());
    expect([ok(await append(logId, "a", { idempotencyKey: "k" })).lastSequence, replayed]).deep.equal([1, "no"]);
    expect([ok(await append(logId, "b", { idempotencyKey: "k" })).lastSequence, replayed]).deep.equal([1, "yes"]);
    expect(verdict(await append(logId, "c", { expectedSequence: 9n }))).deep.equal(["SEQUENCE_CONFLICT"]);
    expect(replayed).equal("no");
  });

  describe("fields", () => {
    for (const [name, field, fields] of [
      ["no name", "name", { name: "" }],
      ["a lone surrogate", "name", { name: "\ud800" }],
      ["a namespace that is none", "namespace", { namespace: "A" }],
      ["a window below 0", "settings.queue.duplicate_window_secs", settings("queue.duplicate_window_secs", -1)],
      [
        "a window above a week",
        "settings.queue.duplicate_window_secs",
        settings("queue.duplicate_window_secs", 604_801),
      ],
      ["a setting that is none", "settings.other", settings("other", 5)],
      ["an age of 0", "settings.retention.max_age_secs", settings("retention.max_age_secs", 0)],
      ["half a byte", "settings.retention.max_bytes", settings("retention.max_bytes", 0.5)],
    ] as const) {
      it(`are refused by name: ${name}`, async () => {
        expect(verdict(await create(fields))).deep.equal(["BAD_FIELD", field]);
        expect(replica.proposed).deep.equal([]);
      });
    }

    it("are allowed at their bounds", async () => {
      for (const [at, fields] of [
        settings("queue.duplicate_window_secs", 604_800),
        settings("queue.duplicate_window_secs", 0),
        settings("retention.max_bytes", Number.MAX_SAFE_INTEGER),
        { name: "é".repeat(128) },
        { name: "'; DROP TABLE logs; --<script>" },
      ].entries()) {
        const log = ok(await create({ name: `log-${at}`, ...fields }));
        expect(log.name).equal("name" in fields ? fields.name : `log-${at}`);
      }
      expect(verdict(await create({ name: "é".repeat(129) }))).deep.equal(["BAD_FIELD", "name"]);
    });

    it("of appends are bounded: 1 MiB for one event; 1,000,000 events and 10 MiB for a batch, even of one event", async () => {
      const logId = await idOf(create());
      const batch = (events: readonly Uint8Array[]) => appendBatch(logId, events);
      const event = new Uint8Array(1024 * 1024);
      expect(verdict(await append(logId, "x".repeat(1024 * 1024 + 1)))).deep.equal(["TOO_LARGE", "payload"]);
      expect(verdict(await batch([]))).deep.equal(["BAD_FIELD", "payloads"]);
      expect(verdict(await batch(Array(1_000_001).fill(new Uint8Array(0))))).deep.equal(["BAD_FIELD", "payloads"]);
      expect(verdict(await batch([...Array(10).fill(event), Uint8Array.of(1)]))).deep.equal(["TOO_LARGE", "payloads"]);
      expect(replica.proposed).have.length(1);
      const whole = new Uint8Array(10 * 1024 * 1024);
      expect(verdict(await batch([whole, Uint8Array.of(1)]))).deep.equal(["TOO_LARGE", "payloads"]);
      expect(ok(await batch([whole]))).deep.include({ lastSequence: 1 });
    });

    it("of reads and listings are refused by name", async () => {
      const logId = await idOf(create());
      for (const [field, fields] of [
        ["log_id", { logId: "x" }],
        ["from_sequence", { fromSequence: -1n }],
        ["page_size", { pageSize: -1 }],
        ["page_size", { pageSize: 1_001 }],
        ["wait_seconds", { waitSeconds: -1n }],
        ["wait_seconds", { waitSeconds: 61n }],
        ["consistency", { consistency: 2 as ReadConsistency }],
      ] as const) {
        expect(verdict(await read(logId, fields)), field).deep.equal(["BAD_FIELD", field]);
      }
      expect(verdict(await list({ pageSize: -1 }))).deep.equal(["BAD_FIELD", "page_size"]);
      expect(verdict(await list({ pageToken: "x" }))).deep.equal(["BAD_FIELD", "page_token"]);
    });
  });

  describe("access", () => {
    const elsewhere: Claims = { access: ["admin"], namespaces: ["elsewhere"] };

    it("is bounded by the token: a log that it does not cover seems not to exist", async () => {
      const logId = await idOf(create({ namespace: "default" }));
      await append(logId, "a");
      const answers = [
        await describeLog(logId, elsewhere),
        await append(logId, "b", {}, elsewhere),
        await read(logId, {}, elsewhere),
        await answerOf((reply) => methods.deleteLog(call(elsewhere), logId, reply)),
        await update(logId, new Map(), elsewhere),
      ];
      expect(answers.map(verdict)).deep.equal(answers.map(() => ["LOG_NOT_FOUND"]));
      expect(ok(await list({}, elsewhere)).logs).deep.equal([]);
      expect(ok(await list({ name: "l" }, elsewhere)).logs).deep.equal([]);
      expect(ok(await list({ name: "l" })).logs).have.length(1);
      expect(ok(await describeLog(logId)).lastSequence).equal(1);
    });

    it("refuses a namespace that the caller names, and a role that is too low, before it looks at the log", async () => {
      const reader: Claims = { access: ["read"], namespaces: ["*"] };
      const writer: Claims = { access: ["write"], namespaces: ["*"] };
      expect(verdict(await create({ namespace: "default" }, elsewhere))).deep.equal(["NAMESPACE_DENIED"]);
      const guard = { namespace: "default", lockName: "l", fencingToken: 1, rw: false };
      expect(verdict(await append(ABSENT, "a", { guard }, elsewhere))).deep.equal(["NAMESPACE_DENIED"]);
      expect(verdict(await append(ABSENT, "a", {}, reader))).deep.equal(["ACCESS_DENIED"]);
      expect(verdict(await create({}, reader))).deep.equal(["ACCESS_DENIED"]);
      for (const claims of [reader, writer]) {
        const answers = [
          await answerOf((reply) => methods.deleteLog(call(claims), ABSENT, reply)),
          await update(ABSENT, new Map(), claims),
        ];
        const expected = claims === reader ? "ACCESS_DENIED" : "LOG_NOT_FOUND";
        expect(answers.map(verdict)).deep.equal(answers.map(() => [expected]));
      }
      expect(replica.proposed).deep.equal([]);
    });

    it("to change and delete one's own log is the access to write", async () => {
      const writer: Claims = { access: ["write"], namespaces: ["*"] };
      const logId = await idOf(create());
      ok(await update(logId, new Map(), writer));
      ok(await answerOf<unknown>((reply) => methods.deleteLog(call(writer), logId, reply)));
    });

    it("to a log without a namespace in the request is the access to default, and the refusal says so", async () => {
      expect(ok(await create()).namespace).equal("default");
      const refused = await create({ name: "other" }, elsewhere);
      expect(verdict(refused)).deep.equal(["NAMESPACE_DENIED"]);
      expect((refused as Error).message)
        .includes('belongs to "default"')
        .and.includes("name one of your namespaces");
      const named = await create({ name: "other", namespace: "default" }, elsewhere);
      expect((named as Error).message).not.includes("belongs to");
    });

    it("is needed for a namespace that a listing names", async () => {
      ok(await create());
      const namesOf = async (namespace: string) => ok(await list({ namespace })).logs.map(({ name }) => name);
      expect(await namesOf("default")).deep.equal(["l"]);
      expect(await namesOf("nowhere")).deep.equal([]);
      expect(verdict(await list({ namespace: "default" }, elsewhere))).deep.equal(["NAMESPACE_DENIED"]);
      expect(verdict(await list({ namespace: "-" }))).deep.equal(["BAD_FIELD", "namespace"]);
    });

    it("allows a cursor only for the name and the namespace that it was made for", async () => {
      ok(await create());
      ok(await create({ name: "m" }));
      const { nextPageToken: pageToken } = ok(await list({ pageSize: 1, namespace: "default" }));
      expect(ok(await list({ pageSize: 1, namespace: "default", pageToken })).logs.map(({ name }) => name)).deep.equal([
        "m",
      ]);
      for (const other of [{}, { namespace: "default", name: "m" }, { namespace: "other" }]) {
        expect(verdict(await list({ ...other, pageToken }))).deep.equal(["BAD_FIELD", "page_token"]);
      }
    });

    it("answers only after a read barrier that a log does not exist", async () => {
      let isCreated = false;
      cluster.onBarrier = (done) => {
        if (!isCreated) {
          isCreated = true;
          // The other member's command arrives here during the wait for the barrier.
          const settingsOf = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };
          replica.execute({
            principal: { subject: cluster.ownerId, apiKeyId: "" },
            request: null,
            operation: { kind: "create-log", name: "late", namespace: "default", settings: settingsOf },
          });
        }
        done(null);
      };
      const { clusterId } = secrets.founding;
      const logId = `${clusterId.slice(0, 14)}8${clusterId.slice(15, 18)}-8100-000000000002`;
      expect(ok(await append(logId, "a")).lastSequence).equal(1);
      expect(cluster.barriers).have.length(1);
      expect(verdict(await append(ABSENT, "a"))).deep.equal(["LOG_NOT_FOUND"]);
    });

    it("is checked again after the read barrier", async () => {
      const logId = await idOf(create());
      cluster.onBarrier = (done) => {
        cluster.changeOwner({ status: "disabled" });
        done(null);
      };
      expect(verdict(await read(logId))).deep.equal(["TOKEN_REVOKED"]);
    });
  });

  it("S18: lists by name, page by page, with a cursor that is valid for this listing only", async () => {
    for (const name of ["c", "a", "b"]) {
      ok(await create({ name }));
    }
    const first = ok(await list({ pageSize: 2 }));
    expect(first.logs.map(({ name }) => name)).deep.equal(["a", "b"]);
    const second = ok(await list({ pageSize: 2, pageToken: first.nextPageToken }));
    expect([second.logs.map(({ name }) => name), second.nextPageToken]).deep.equal([["c"], ""]);
    expect(verdict(await list({ pageToken: `${first.nextPageToken}A` }))).deep.equal(["BAD_FIELD", "page_token"]);
    expect(ok(await list({ name: "b" })).logs.map(({ name }) => name)).deep.equal(["b"]);
    expect(ok(await list({ name: "nobody" }))).deep.include({ logs: [], nextPageToken: "" });
  });

  describe("a read that waits", () => {
    let logId: string;
    beforeEach(async () => {
      logId = await idOf(create());
      ok(await append(logId, "a"));
    });

    it("answers at once if there are events, or if it must not wait", async () => {
      expect(textsOf(ok(await read(logId, { waitSeconds: 60n })))).deep.equal(["1 a"]);
      const { events, log } = ok(await read(logId, { fromSequence: 2n }));
      expect([events, log.lastSequence]).deep.equal([[], 1]);
      expect(hub.size).equal(0);
    });

    it("answers as soon as an event arrives, but not for an event of another log", async () => {
      const other = await idOf(create({ name: "other" }));
      const waiting = read(logId, { fromSequence: 2n, waitSeconds: 60n });
      await settled();
      time.advance(1_000);
      expect(hub.size).equal(1);
      await append(other, "x");
      time.drain();
      expect(hub.size).equal(1);
      await append(logId, "b");
      time.drain();
      expect(textsOf(ok(await waiting))).deep.equal(["2 b"]);
      expect([hub.size, time.timerCount, replica.observers]).deep.equal([0, 0, 0]);
    });

    it("answers without events when its time is up", async () => {
      const waiting = read(logId, { fromSequence: 3n, waitSeconds: 2n });
      await settled();
      await append(logId, "b");
      time.advance(1_900);
      expect(hub.size).equal(1);
      time.advance(200);
      const { events, log } = ok(await waiting);
      expect([events, log.lastSequence]).deep.equal([[], 2]);
    });

    it("ends when its client has gone", async () => {
      void read(logId, { fromSequence: 2n, waitSeconds: 60n });
      await settled();
      expect(hub.size).equal(1);
      leave();
      expect([hub.size, time.timerCount, replica.observers]).deep.equal([0, 0, 0]);
    });

    it("S39: ends when its right is revoked, and when the log is deleted", async () => {
      const revoked = read(logId, { fromSequence: 2n, waitSeconds: 60n });
      await settled();
      cluster.changeOwner({ status: "disabled" });
      time.advance(1_000);
      expect(verdict(await revoked)).deep.equal(["TOKEN_REVOKED"]);
      cluster.changeOwner({ status: "active" });
      const deleted = read(logId, { fromSequence: 2n, waitSeconds: 60n });
      await settled();
      await answerOf((reply) => methods.deleteLog(call(), logId, reply));
      time.drain();
      expect(verdict(await deleted)).deep.equal(["LOG_NOT_FOUND"]);
    });
  });

  describe("a tail", () => {
    it("sends the present events and new ones, one message at a time, until the client leaves", async () => {
      const logId = await idOf(create());
      await append(logId, "a");
      await append(logId, "b");
      const sent: string[][] = [];
      let taken = (): void => undefined;
      let close = (): void => undefined;
      const { log, begin } = ok(await tail(logId, 2n));
      expect(log.lastSequence).equal(2);
      begin({
        send: (message, done) => {
          sent.push(textsOf(message));
          taken = done;
        },
        fail: (error) => expect.fail(error.message),
        onOver: (callback) => {
          close = callback;
        },
      });
      time.drain();
      expect(sent).deep.equal([["2 b"]]);
      await append(logId, "c");
      await append(logId, "d");
      time.drain();
      expect(sent, "the first message is not yet flushed").have.length(1);
      taken();
      time.drain();
      expect(sent).deep.equal([["2 b"], ["3 c", "4 d"]]);
      close();
      await append(logId, "e");
      time.drain();
      expect([sent.length, hub.size]).deep.equal([2, 0]);
    });

    it("fails for a caller without the log, or without the right", async () => {
      const logId = await idOf(create({ namespace: "default" }));
      const elsewhere: Claims = { access: ["read"], namespaces: ["elsewhere"] };
      for (const [asked, id] of [
        [call(), ABSENT],
        [call(elsewhere), logId],
      ] as const) {
        const failed = await answerOf<OpenTail>((reply) =>
          methods.tailEvents(asked, { logId: id, fromSequence: 0n }, reply),
        );
        expect(verdict(failed)).deep.equal(["LOG_NOT_FOUND"]);
      }
    });
  });

  it("answers NO_LEADER from a member that serves no cluster", async () => {
    const none = { replica: null };
    methods = new EventLogMethods(none, new Executor(none), hub, time);
    for (const answer of [await create(), await describeLog(ABSENT), await append(ABSENT, "a"), await list()]) {
      expect(verdict(answer)).deep.equal(["NO_LEADER"]);
    }
  });
});

/** The fields of a batch without conditions, but for these changes. */
function fieldsOf(events: readonly Uint8Array[], changes: Partial<AppendFields> = {}): AppendFields {
  return {
    payloads: Payloads.of(events),
    isBatch: true,
    idempotencyKey: "b",
    expectedSequence: undefined,
    ...changes,
  };
}

function settings(name: string, value: number | null) {
  return { settings: new Map([[name, value]]) };
}
