import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { FIT, StoredLog } from "../../verify/scenarios/index.ts";
import { NO_CONFIGURATION } from "./configuration.ts";
import { type Effects, RaftCore } from "./core.ts";
import { EntryType, encodeEntry, NO_ENVELOPE } from "./entry.ts";
import { DEFAULT_CORE_LIMITS } from "./limits.ts";

const ID = 1;
/** Small, so that scripts reach the limits. */
const LIMITS = {
  ...DEFAULT_CORE_LIMITS,
  uncommittedBytesMax: 500,
  unappliedEntriesMax: 6,
  tailBytesMax: 200,
  readsMax: 3,
};

type Append = NonNullable<Effects["append"]>;

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "tick", count: 25 } as const) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("propose" as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 8, arbitrary: fc.constant({ kind: "drain" } as const) },
  { weight: 6, arbitrary: fc.constant({ kind: "ack" } as const) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("apply" as const), count: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 3, arbitrary: fc.constant({ kind: "read" } as const) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("fitness" as const), mayVote: fc.boolean(), mayLead: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), lastWriteLands: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * One member with its disk. It crashes and starts again. After every step it checks three rules: the member leads a
 * term only once, no committed entry changes or disappears, and no entry is applied before it is committed and stable.
 */
class Member {
  /** Every effect of the core. */
  readonly trace: unknown[] = [];
  readonly #disk = new StoredLog().add(EntryType.Bootstrap, 1);
  #hardState = { term: 1, vote: ID, commit: 1, writeSeq: 1 };
  #durableApplied = 1;
  #random: number;
  #core: RaftCore;
  #inFlight: Append | null = null;
  #applyTo = 1;
  /** Highest index that was ever committed, before or after any crash. */
  #committed = 1;
  readonly #termsLed = new Set<number>();
  /** Highest committed index when each read position was requested. */
  #asked = new Map<number, number>();

  constructor(seed: number) {
    this.#random = seed;
    this.#core = this.#start();
  }

  run(script: readonly Step[]): this {
    for (const each of script) {
      this.#take(each);
      this.#check();
    }
    const { role, term, commitIndex, lastIndex } = this.#core;
    this.trace.push({ role, term, commitIndex, lastIndex });
    return this;
  }

  #start(): RaftCore {
    const { rows } = this.#disk;
    const core = new RaftCore({
      id: ID,
      boot: 1,
      ...this.#hardState,
      commit: Math.max(this.#hardState.commit, this.#durableApplied),
      log: { first: 1, prevTerm: 0, last: rows.length, lastTerm: this.#disk.term(rows.length) },
      configuration: { ...NO_CONFIGURATION, index: 1, voters: [ID] },
      applied: this.#durableApplied,
      limits: LIMITS,
      random: (bound) => {
        this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) >>> 0;
        return this.#random % bound;
      },
      reader: this.#disk,
      checksum: crc32,
    });
    core.setEligibility(FIT);
    this.#applyTo = this.#durableApplied;
    this.#inFlight = null;
    this.#asked = new Map();
    return core;
  }

  #take(each: Step): void {
    switch (each.kind) {
      case "tick":
        for (let { count } = each; count > 0; count--) {
          this.#core.tick();
        }
        return;
      case "propose":
        this.#propose(each.count);
        return;
      case "drain":
        this.#drain();
        return;
      case "ack":
        if (this.#inFlight !== null) {
          const { writeSeq } = this.#land(this.#inFlight);
          this.#inFlight = null;
          this.#core.onAppendDurable(writeSeq);
        }
        return;
      case "apply":
        this.#apply(Math.min(this.#applyTo, this.#durableApplied + each.count));
        return;
      case "read": {
        const position = this.#core.readIndex();
        this.#asked.set(position, this.#committed);
        this.trace.push(position);
        return;
      }
      case "fitness":
        this.#core.setEligibility({ ...FIT, mayVote: each.mayVote, mayLead: each.mayLead });
        return;
      case "crash":
        if (this.#inFlight !== null && each.lastWriteLands) {
          this.#land(this.#inFlight);
        }
        this.#core = this.#start();
        return;
    }
  }

  #propose(count: number): void {
    const before = this.#core.lastIndex;
    const rows = Array.from({ length: count }, () => {
      return encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(this.trace.length % 50));
    });
    const answer = this.#core.propose(rows);
    expect(this.#core.lastIndex).to.equal(typeof answer === "string" ? before : before + count);
    this.trace.push(answer);
  }

  #drain(): void {
    const { append, apply, reads, readsFailedUpTo: readsLostUpTo, role } = this.#core.drain(this.#inFlight === null);
    this.#inFlight = append ?? this.#inFlight;
    if (apply !== null) {
      expect(apply.from).to.equal(this.#applyTo + 1);
      expect(apply.to).to.be.at.most(Math.min(this.#core.commitIndex, this.#core.stableIndex));
      this.#applyTo = apply.to;
    }
    for (const [position, committed] of this.#asked) {
      if (reads !== null && position > readsLostUpTo && position <= reads.position) {
        expect(reads.index).to.be.at.least(committed);
      }
    }
    if (role?.role === "leader") {
      expect(this.#termsLed.has(role.term), `leads twice in term ${role.term}`).to.equal(false);
      this.#termsLed.add(role.term);
    }
    this.trace.push(append === null ? null : { ...append, rows: append.rows.map((row) => row.toHex()) });
    this.trace.push({ apply, reads, readsLostUpTo, role });
  }

  /** Puts the content of the write on the disk. */
  #land(append: Append): Append {
    expect(append.from, "overwrites what is committed").to.be.above(this.#committed);
    this.#disk.rows.length = append.from - 1;
    this.#disk.rows.push(...append.rows);
    this.#hardState = append;
    return append;
  }

  #apply(to: number): void {
    if (to > this.#durableApplied) {
      const rows = this.#core.entries(this.#durableApplied + 1, to, 150);
      this.#durableApplied += rows.length;
      this.#core.onApplied(
        this.#durableApplied,
        rows.reduce((sum, row) => sum + row.length, 0),
      );
    }
  }

  #check(): void {
    const { appliedIndex, commitIndex, stableIndex } = this.#core;
    expect(commitIndex).to.be.at.most(stableIndex);
    expect(appliedIndex).to.be.at.most(commitIndex);
    this.#committed = Math.max(this.#committed, commitIndex);
    expect(this.#disk.rows.length).to.be.at.least(this.#committed);
  }
}

describe("the consensus core under random scripts with crashes", () => {
  const scripts = fc.array(step, { minLength: 60, maxLength: 200 });

  it("P1, P4, P42, P54: leads once in a term, and keeps its committed entries", () => {
    fc.assert(
      fc.property(scripts, fc.nat(), (script, seed) => {
        new Member(seed).run(script);
      }),
      { numRuns: 150 },
    );
  });

  it("shows the same when the same script is run again", () => {
    fc.assert(
      fc.property(scripts, fc.nat(), (script, seed) => {
        expect(new Member(seed).run(script).trace).to.deep.equal(new Member(seed).run(script).trace);
      }),
      { numRuns: 30 },
    );
  });

  it("gets far enough for that to mean something", () => {
    // Without this test, a change that ends every script in its first steps would stay unnoticed.
    const [script] = fc.sample(fc.array(step, { minLength: 3_000, maxLength: 3_000 }), { seed: 1, numRuns: 1 });
    const { trace } = new Member(1).run(script as Step[]);
    const last = trace.at(-1) as { readonly term: number; readonly commitIndex: number };
    expect(last.term).to.be.above(20);
    expect(last.commitIndex).to.be.above(100);
    expect(trace).to.include("overloaded").and.to.include("not-leader");
  });
});
