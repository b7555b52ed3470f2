/**
 * Restores a long history at many random points, more than the test suite does:
 *
 *     npx node node/test/restored/main.ts --operations 100000 --points 200 --seed 1
 *
 * It ends with an error at the first point whose state is not the one that the cluster had.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KeyRing, openStore, readCatalog } from "@quoin/backup";
import { archiveHistory, numbersOf } from "./archived-history.ts";
import { randomHistory } from "./random-history.ts";
import { randomPoint, restorePoint } from "./restored-points.ts";

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "100000" },
    points: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
  },
});
const [operations, points, seed] = [values.operations, values.points, values.seed].map(Number) as [
  number,
  number,
  number,
];
const keyRing = new KeyRing([{ id: "history", bytes: new Uint8Array(32).fill(7) }]);
const directory = mkdtempSync(join(tmpdir(), "quoin-restores-"));

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function secondsSince(startMs: number): string {
  return `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
}

try {
  const startMs = performance.now();
  const below = numbersOf(seed);
  const history = await randomHistory({ seed, operations, snapshots: Math.max(2, Math.round(operations / 10_000)) });
  print(`${history.rows.length} entries, ${history.snapshots.size} snapshots, written in ${secondsSince(startMs)}`);
  const store = join(directory, "store");
  mkdirSync(store);
  const archiveMs = performance.now();
  const opened = await openStore({ kind: "directory", directory: store }, { create: false });
  await archiveHistory(opened, history, { below, segmentMax: 2_000, keyRing });
  const { snapshots, segments } = await readCatalog(opened);
  const bytes = [...snapshots, ...segments].reduce((sum, { size }) => sum + size, 0);
  await opened.close();
  const objects = `${snapshots.length} snapshots and ${segments.length} segments of ${Math.round(bytes / 1024)} KiB in all`;
  print(`${objects}, archived in ${secondsSince(archiveMs)}`);
  const restoreMs = performance.now();
  const took: number[] = [];
  let [entries, digests] = [0, 0];
  for (let number = 0; number < points; number++) {
    const member = join(directory, `member-${number}`);
    const pointMs = performance.now();
    const point = randomPoint(history, number, below);
    const restored = await restorePoint(history, point, { store, keyRing, directory: member, opens: true });
    took.push(performance.now() - pointMs);
    entries += restored.entries;
    digests += restored.digestsCompared;
    rmSync(member, { recursive: true, force: true });
  }
  took.sort((a, b) => a - b);
  const [median, longest] = [took[took.length >> 1] ?? 0, took.at(-1) ?? 0].map(Math.round);
  print(
    `${points} points restored in ${secondsSince(restoreMs)}, each with the digest that the cluster had: ${entries} entries ` +
      `applied, ${digests} digests of objects compared; a restore took ${median} ms in the median, ${longest} ms at most`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
