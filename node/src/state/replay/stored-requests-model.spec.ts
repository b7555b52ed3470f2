import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedLog,
  applyRows,
  dumpOf,
  expectExactReplays,
  MemoryStateStore,
  machineOver,
  OWNER,
  requestOf,
  stepOf,
} from "../../../test/index.ts";
import { CoordinationError, DEFAULT_STATE_LIMITS, generationMs } from "../core/index.ts";
import { storedOutcome } from "../index.ts";
import { hasExpiredAnswers } from "./stored-requests.ts";

const KEY = Buffer.from("k");

/** The entry of an executed request in a plain map. */
interface Remembered {
  readonly tickMs: number;
  readonly payload: number;
  readonly revision: number;
}

const step = fc.oneof(
  stepOf(12, "ask", { id: fc.nat({ max: 30 }), payload: fc.constantFrom(0, 0, 0, 1) }),
  stepOf(6, "pass", { share: fc.constantFrom(0, 0, 0, 0.03, 0.1, 0.5, 1.2) }),
  stepOf(2, "drop", {}),
  stepOf(3, "restart", { rows: fc.constantFrom(0, 1, 5, 10) }),
  stepOf(3, "read", { rows: fc.nat({ max: 8 }) }),
);

describe("stored answers under random requests, ticks, drops and restarts", () => {
  for (const replayWindowMs of [0, 1, 7, 100, 300_000]) {
    it(`equal those in a map of all requests, with a window of ${replayWindowMs} ms`, () => {
      const limits = { ...DEFAULT_STATE_LIMITS, replayWindowMs };
      fc.assert(
        fc.property(
          fc.array(step, { maxLength: 150, size: "max" }),
          fc.array(fc.nat({ max: 150 })),
          (steps, slices) => {
            const log = new AppliedLog(limits);
            const model = new Map<number, Remembered>();
            for (const each of steps) {
              switch (each.kind) {
                case "ask":
                  ask(log, model, each, replayWindowMs);
                  break;
                case "pass":
                  log.tickMs += Math.ceil(replayWindowMs * each.share);
                  break;
                case "drop":
                  log.lead({ kind: "drop-replays" });
                  expect(hasExpiredAnswers(log.store, log.tickMs, replayWindowMs)).to.equal(false);
                  break;
                case "restart":
                  log.restart(each.rows);
                  break;
                case "read":
                  log.readForFilters(each.rows);
                  break;
              }
            }
            expectExactReplays(log.store);
            // The operations between restarts, in slices of another size, give the same state.
            const store = new MemoryStateStore();
            const machine = machineOver(store, limits);
            applyRows(machine, log.rows, new Set(slices));
            expect(machine.progress).to.deep.equal(log.progress);
            expect(dumpOf(store)).to.deep.equal(log.dump());
            log.tickMs += replayWindowMs + generationMs(replayWindowMs);
            log.lead({ kind: "drop-replays" });
            expect(log.progress.storedAnswers).to.equal(0);
            expect(log.dump().filter((row) => /^[rG]/.test(row))).to.deep.equal([]);
          },
        ),
        { numRuns: 60 },
      );
    });
  }
});

function ask(
  log: AppliedLog,
  model: Map<number, Remembered>,
  { id, payload }: { readonly id: number; readonly payload: number },
  windowMs: number,
): void {
  const request = requestOf(id, 100 * id + payload);
  const before = model.get(id);
  const isKnown = before !== undefined && before.tickMs >= log.tickMs - windowMs;
  const { tickMs, revision } = log;
  const seen = storedOutcome(log.store, OWNER.subject, request, { tickMs, sinceMs: tickMs - windowMs, revision });
  expect(seen !== null).to.equal(isKnown);
  const { answer, replayed } = log.execute(
    {
      kind: "put-key",
      namespace: "default",
      key: KEY,
      value: Uint8Array.of(payload),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    },
    { request },
  );
  if (!isKnown) {
    expect(replayed).to.equal("no");
    expect(answer).to.include({ kind: "put-key", modRevision: log.revision });
    model.set(id, { tickMs: log.tickMs, payload, revision: log.revision });
  } else if (before.payload === payload) {
    expect(replayed).to.equal("yes");
    expect(answer).to.include({ kind: "put-key", modRevision: before.revision });
  } else {
    expect(answer).to.be.instanceOf(CoordinationError);
    expect((answer as CoordinationError).reason).to.equal("REQUEST_ID_REUSED");
  }
}
