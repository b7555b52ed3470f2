import { expect } from "chai";
import fc from "fast-check";
import { AppliedLog, putOf } from "../../../test/index.ts";
import { CoordinationError } from "../core/index.ts";
import { countKeys } from "./key-count.ts";
import { listKeys } from "./keys.ts";

const ALL = { entriesMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, keysOnly: true };
const NAMESPACE = "default";
const KEYS = ["", "a", "a\0", "ab", "b", "b1", "b2", "c"].map((key) => `k${key}`);
const PREFIXES = ["", "k", "ka", "kb", "kb2", "none"].map((prefix) => Buffer.from(prefix));

function counted(log: AppliedLog, prefix: Uint8Array): number {
  return listKeys(log.store, NAMESPACE, prefix, undefined, ALL).keys.length;
}

function deletionOf(key: string) {
  const none = { expectedModRevision: undefined, returnPrevious: false };
  return { kind: "delete-key" as const, namespace: NAMESPACE, key: Buffer.from(key), ...none };
}

/** A count with steps of one row each, during which the log applies the changes of each pause. */
function countDuring(log: AppliedLog, prefix: Uint8Array, keysMax: number, onPause: (step: number) => void) {
  const from = {
    state: log.store,
    get revision(): number {
      return log.revision;
    },
  };
  const steps = countKeys(from, { namespace: NAMESPACE, prefix }, keysMax, () => false);
  for (let step = 0; ; step++) {
    const made = steps.next();
    if (made.done === true) {
      return made.value;
    }
    expect(step).to.be.below(1_000);
    onPause(step);
  }
}

describe("countKeys", () => {
  it("counts exactly, whatever changes between its steps", () => {
    const change = fc.record({ key: fc.constantFrom(...KEYS), isPut: fc.boolean(), elsewhere: fc.boolean() });
    const pauses = fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pauses, fc.constantFrom(...PREFIXES), fc.boolean(), (all, prefix, compacts) => {
        const log = new AppliedLog();
        log.result({ kind: "create-namespace", namespace: "other" });
        const apply = (changes: (typeof all)[number]) => {
          for (const { key, isPut, elsewhere } of changes) {
            if (isPut) {
              log.execute({ ...putOf(key, "v"), namespace: elsewhere ? "other" : NAMESPACE });
            } else {
              log.execute(deletionOf(key));
            }
          }
        };
        apply(all[0] ?? []);
        const count = countDuring(log, prefix, 1_000, (step) => {
          apply(all[step + 1] ?? []);
          if (compacts && step === 2) {
            log.lead({ kind: "compact-history", revision: log.revision, subject: "", request: null });
            log.lead({ kind: "trim-history", countMax: 1_000 });
          }
        });
        expect(count).to.deep.equal({ keys: counted(log, prefix), more: false, revision: log.revision });
      }),
      { numRuns: 300 },
    );
  });

  it("stops at the greatest number, and says whether there are more", () => {
    const log = new AppliedLog();
    for (const key of KEYS) {
      log.result(putOf(key, "v"));
    }
    const { length } = KEYS;
    const { revision } = log;
    const count = (keysMax: number) => countDuring(log, Buffer.from("k"), keysMax, () => undefined);
    expect(count(length)).to.deep.equal({ keys: length, more: false, revision });
    expect(count(length - 1)).to.deep.equal({ keys: length - 1, more: true, revision });
  });

  it("needs its namespace", () => {
    const { store: state, revision } = new AppliedLog();
    const steps = countKeys({ state, revision }, { namespace: "none", prefix: Buffer.alloc(0) }, 1, () => true);
    expect(() => steps.next())
      .to.throw(CoordinationError)
      .that.includes({ reason: "NAMESPACE_NOT_FOUND" });
  });
});
