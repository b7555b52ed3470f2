import { expect } from "chai";
import {
  type AppendEvents,
  type AppendEventsResult,
  CoordinationError,
  type LogSettings,
  type Outcome,
  Payloads,
  type Result,
  SequenceRuns,
} from "../../src/state/index.ts";
import { NO_SETTINGS } from "../../test/index.ts";
import { EventLogRules } from "./event-log-rules.ts";
import { type ExecuteOptions, ObservedLog } from "./observed-log.ts";

describe("the rules of event logs", () => {
  let rules: EventLogRules;
  let log: ObservedLog;
  let logId: Uint8Array;

  const create = (settings: Partial<LogSettings> = {}, name = "l"): Uint8Array => {
    const operation = {
      kind: "create-log",
      name,
      namespace: "default",
      settings: { ...NO_SETTINGS, ...settings },
    } as const;
    return (log.ask(operation).answer as Extract<Result, { readonly kind: "create-log" }>).log.logId;
  };

  const begin = (settings: Partial<LogSettings> = {}): void => {
    rules = new EventLogRules();
    log = new ObservedLog(rules);
    logId = create(settings);
  };

  beforeEach(() => begin());

  const append = (texts: string, changes: Partial<AppendEvents> = {}, pretend?: ExecuteOptions["pretend"]): Outcome => {
    const payloads = Payloads.of(texts.split(" ").map((text) => Buffer.from(text)));
    const isBatch = payloads.count > 1;
    const operation = { kind: "append-events", logId, payloads, isBatch, idempotencyKey: null } as const;
    return log.ask({ ...operation, expectedSequence: undefined, ...changes }, { pretend });
  };

  /** An event of a batch, with its sequence. */
  const run = (position: number, firstSequence: number) => ({ position, count: 1, firstSequence });

  const broken = (rule: string, act: () => void): void => {
    expect(act, rule).to.throw(rule);
  };

  /** The witness sees that the command was refused for this reason. */
  const refused = (reason: CoordinationError["reason"]): ExecuteOptions["pretend"] => {
    return () => ({ outcome: { answer: new CoordinationError(reason, ""), replayed: "no" } });
  };

  /** The witness sees other fields of the answer. */
  const answered = (changes: Partial<AppendEventsResult>): ExecuteOptions["pretend"] => {
    return ({ outcome }) => {
      const answer = outcome?.answer as AppendEventsResult;
      return { outcome: { answer: { ...answer, ...changes }, replayed: "no" } };
    };
  };

  /** The witness sees another command instead: at another place, or at another time. */
  const asked = (changes: Partial<AppendEvents>): ExecuteOptions["pretend"] => {
    return ({ command }) => {
      const operation = { ...(command.operation as AppendEvents), ...changes };
      return { command: { principal: { subject: "user-owner", apiKeyId: "" }, request: null, operation } };
    };
  };

  const guard = { namespace: "default", lockName: "free", fencingToken: 1, rw: false };

  it("hold for what the state machine makes of all operations", () => {
    begin({ duplicateWindowSecs: 5, retentionMaxAgeSecs: 20, retentionMaxBytes: 6 });
    append("a", { idempotencyKey: "k" });
    append("b", { idempotencyKey: "k" });
    append("c d e", { idempotencyKey: "b" });
    append("c d e f", { idempotencyKey: "b", expectedSequence: 4n });
    append("g", { expectedSequence: 4n });
    append("h", { guard });
    log.log.tickMs += 5_001;
    append("i", { idempotencyKey: "k" });
    append("jj");
    log.log.tickMs++;
    log.lead({ kind: "prune-duplicates", countMax: 100 });
    log.lead({ kind: "apply-retention", rowsMax: 1 });
    log.lead({ kind: "apply-retention", rowsMax: 100 });
    log.ask({ kind: "delete-log", logId });
    append("k");
    log.lead({ kind: "erase-logs", rowsMax: 100 });
    expect([rules.appends, rules.duplicates, rules.conflicts, rules.removed]).to.deep.equal([5, 4, 1, 2]);
    expect([rules.payloadAt(logId, 1), rules.payloadAt(logId, 8), rules.hasStored("i")]).to.deep.equal([
      "a",
      undefined,
      true,
    ]);
    expect(rules.hasStored("g")).to.equal(false);
  });

  it("break when a sequence is left out, or a batch does not stand together", () => {
    broken("sequences are dense", () =>
      append("a", {}, answered({ runs: SequenceRuns.of([run(0, 2)]), lastSequence: 2 })),
    );
    begin();
    const apart = answered({ runs: SequenceRuns.of([run(0, 1), run(1, 3)]), lastSequence: 3 });
    broken("batches stand together", () => append("a b", { idempotencyKey: "b" }, apart));
  });

  it("break when a duplicate is given another sequence, or is stored again", () => {
    append("a", { idempotencyKey: "k" });
    const another = answered({ runs: SequenceRuns.of([run(0, 2)]), lastSequence: 2 });
    broken("S4 a key in its window has its first sequence", () => append("b", { idempotencyKey: "k" }, another));
    begin();
    append("a", { idempotencyKey: "k" });
    broken("S4 a key in its window", () => append("b", { idempotencyKey: "x" }, asked({ idempotencyKey: "k" })));
  });

  it("break when a key is remembered for too long", () => {
    begin({ duplicateWindowSecs: 5 });
    append("a", { idempotencyKey: "k" });
    const late: ExecuteOptions["pretend"] = ({ tickMs }) => ({ tickMs: tickMs + 5_001 });
    broken("sequences are dense", () => append("b", { idempotencyKey: "k" }, late));
  });

  it("break when the last sequence of an answer is not the greatest", () => {
    broken("S6 the last sequence is the greatest", () => {
      append("a b", { idempotencyKey: "b" }, answered({ lastSequence: 1 }));
    });
  });

  it("break when something is stored in spite of an expectation or a guard", () => {
    broken("S9 what is stored comes after the expected sequence", () =>
      append("a", {}, asked({ expectedSequence: 1n })),
    );
    begin();
    // The witness has seen earlier that the hold is not live.
    const told: ExecuteOptions["pretend"] = ({ command }) => {
      rules.before({ ...command, operation: { ...command.operation, guard } as AppendEvents } as never, log.log.store);
      return {};
    };
    broken("P53 a guarded append counts only while", () => append("a", {}, told));
  });

  it("ignore refusals of a revoked caller", () => {
    append("a", { idempotencyKey: "k" });
    append("a", { idempotencyKey: "k" }, refused("TOKEN_REVOKED"));
    expect([rules.appends, rules.duplicates, rules.conflicts]).to.deep.equal([1, 0, 0]);
  });

  it("break when something is refused that must not be", () => {
    append("a", { idempotencyKey: "k" });
    broken("S1 what was stored before is not refused", () => {
      append("a", { idempotencyKey: "k" }, refused("SEQUENCE_CONFLICT"));
    });
    begin();
    broken("a log is there until it is deleted", () => append("a", {}, refused("LOG_NOT_FOUND")));
    begin();
    broken("P53 a guarded append counts while", () => append("a", {}, refused("FENCED")));
    begin();
    broken("S9 an append with the right sequence", () => {
      append("a", { expectedSequence: 0n }, refused("SEQUENCE_CONFLICT"));
    });
  });

  it("break when a refused event is stored", () => {
    broken("a log says the truth of itself", () => append("a", {}, refused("QUOTA")));
  });

  it("break when a log that was deleted takes something, or an append is answered as something else", () => {
    log.ask({ kind: "delete-log", logId });
    const other = create({}, "other");
    const gone = logId;
    logId = other;
    broken("a log that was deleted takes nothing", () => append("a", {}, asked({ logId: gone })));
    begin();
    const answer = { kind: "delete-log", logId, revision: 1 } as const;
    broken("appends are answered as such", () => append("a", {}, () => ({ outcome: { answer, replayed: "no" } })));
  });

  it("break when an event is not what was appended", () => {
    broken("S2 a log holds what was accepted", () =>
      append("a", {}, asked({ payloads: Payloads.of([Buffer.from("b")]) })),
    );
  });

  it("break when events are removed early", () => {
    begin({ retentionMaxAgeSecs: 5 });
    append("a");
    log.log.tickMs += 5_001;
    const early: ExecuteOptions["pretend"] = ({ tickMs }) => ({ tickMs: tickMs - 1 });
    broken("S21 events are kept as long", () => log.lead({ kind: "apply-retention", rowsMax: 9 }, early));
  });
});
