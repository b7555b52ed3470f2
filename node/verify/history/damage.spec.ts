import { expect } from "chai";
import fc from "fast-check";
import { DAMAGES, type Damage, EXPIRY_DAMAGES } from "./damage.ts";
import { withExpiries } from "./expiries.ts";
import type { RecordedOperation } from "./history.ts";
import { RANDOM_EXPIRY_LATE_MS, type RandomHistoryOptions, randomHistory } from "./random-history.ts";
import { describeVerdict } from "./report.ts";
import { searchCheck } from "./search.ts";
import { witnessCheck } from "./witness.ts";

const SIZE = { clients: 5, keys: 2, operationsPerClient: 25, unknownPercent: 5 };
/** Keys that clients leave alone for long enough to expire. */
const CALM_SIZE = { ...SIZE, keys: 12, operationsPerClient: 40, ttlPercent: 50 };
const HISTORIES = 150;
/** Of the histories in which the damage fits, the share that must be noticed. A few can still be explained. */
const NOTICED_SHARE_MIN = 0.95;
const PLACES_MIN = 20;

type Random = (bound: number) => number;
/** The oracles that find a history wrong. */
type Noticed = { readonly byWitness: boolean; readonly bySearch: boolean };

/** A fixed seed: how many of the histories are noticed is a property of the oracles, not luck. */
const SEED = 1_129;
/** More looks at the clock than any history needs, so the speed of the machine does not matter. */
const LOOKS_MAX = 100_000;

describe("damaged histories", () => {
  const limits = { clockDrift: 0, clockResolutionMs: 0, lateMsMax: RANDOM_EXPIRY_LATE_MS, leaderless: [] };

  function judged(operations: readonly RecordedOperation[]): Noticed {
    let looks = 0;
    const search = searchCheck(operations, { nowMs: () => looks++, limitMs: LOOKS_MAX });
    return { byWitness: witnessCheck(operations).kind === "violation", bySearch: search.kind === "violation" };
  }

  function itIsNoticed(name: string, damage: Damage, size: RandomHistoryOptions): void {
    it(`${name} is noticed`, () => {
      const noticed: Noticed[] = [];
      for (const random of streams(SEED, HISTORIES)) {
        const lived = withExpiries(randomHistory(random, size), limits);
        const before = witnessCheck(lived);
        expect(before.kind, describeVerdict(before)).to.equal("correct");
        const damaged = damage(lived, random);
        if (damaged !== null) {
          noticed.push(judged(damaged));
        }
      }
      expect(noticed.length, "histories in which it fits").to.be.at.least(PLACES_MIN);
      const either = noticed.filter(({ byWitness, bySearch }) => byWitness || bySearch).length;
      expect(either / noticed.length, "noticed by one of them").to.be.at.least(NOTICED_SHARE_MIN);
      const bySearch = noticed.filter(({ bySearch: found }) => found).length;
      expect(bySearch / noticed.length, "noticed by the search").to.be.at.least(NOTICED_SHARE_MIN);
    });
  }

  for (const [name, damage] of DAMAGES) {
    itIsNoticed(name, damage, SIZE);
  }
  for (const [name, damage] of EXPIRY_DAMAGES) {
    itIsNoticed(name, damage, CALM_SIZE);
  }
});

/** Reproducible streams of random numbers. */
function streams(seed: number, count: number): Random[] {
  const numbers = fc.infiniteStream(fc.nat({ max: 0xffff }));
  return fc.sample(numbers, { seed, numRuns: count }).map((stream) => {
    return (bound: number) => (stream.next().value as number) % bound;
  });
}
