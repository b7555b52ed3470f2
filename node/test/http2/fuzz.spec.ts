/** Connections of the fuzz test, the same ones each time; `fuzz.ts` runs any number of others. */
import { expect } from "chai";
import { fuzzConnection } from "./fuzz-run.ts";
import { recordClients } from "./recorded-clients.ts";

const CONNECTIONS = 1_200;

/** The connections must reach each of these ends to be useful. */
const ENDS = [
  ...["open", "closed-by-server", "peer-went-away", "drained", "drain-deadline"],
  ...["wrong-frame", "wrong-order", "wrong-stream", "wrong-padding", "wrong-settings", "wrong-window-update"],
  ...["window-overflow", "wrong-header-block", "too-many-continuations", "too-many-resets", "too-many-settings"],
];

describe("a connection under arbitrary frames", () => {
  it("keeps its rules and its bounds, and ends for many reasons", async () => {
    const recorded = await recordClients();
    const ends = new Set<string>();
    for (let seed = 0; seed < CONNECTIONS; seed++) {
      try {
        ends.add(fuzzConnection(seed, recorded).end);
      } catch (error) {
        throw new Error(`The connection of seed ${seed} is broken`, { cause: error });
      }
    }
    expect(ENDS.filter((end) => !ends.has(end))).to.deep.equal([]);
  });
});
