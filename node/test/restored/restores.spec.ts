import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KeyRing, openStore } from "@quoin/backup";
import { drawnSeed, temporaryDirectory } from "../../../testing/index.ts";
import { archiveHistory, numbersOf } from "./archived-history.ts";
import { randomHistory } from "./random-history.ts";
import { randomPoint, restorePoint } from "./restored-points.ts";

const OPERATIONS = 5_000;
const POINTS = 20;
/** At one point in this many, the result is opened as the data of a member. */
const OPENED_EACH = 5;
const SEED = drawnSeed("a history that is restored");
const KEY_RING = new KeyRing([{ id: "spec", bytes: new Uint8Array(32).fill(7) }]);

describe(`restores at ${POINTS} points of ${OPERATIONS} operations`, function () {
  this.timeout(240_000);

  it(`have the digests that the cluster had there (seed ${SEED})`, async () => {
    const store = join(temporaryDirectory(), "store");
    mkdirSync(store);
    const below = numbersOf(SEED);
    const history = await randomHistory({ seed: SEED, operations: OPERATIONS, snapshots: 4 });
    const opened = await openStore({ kind: "directory", directory: store }, { create: false });
    await archiveHistory(opened, history, { below, segmentMax: 400, keyRing: KEY_RING });
    await opened.close();
    for (let number = 0; number < POINTS; number++) {
      const directory = temporaryDirectory();
      const point = randomPoint(history, number, below);
      const opens = number % OPENED_EACH === 0;
      await restorePoint(history, point, { store, keyRing: KEY_RING, directory, opens });
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
