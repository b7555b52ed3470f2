/**
 * A program: uses the store in the directory of its argument repeatedly, and prints how many batches and iterators of
 * RocksDB are still in memory: `{"batches": N, "iterators": N}`. It runs in a process with few other objects, because
 * the count walks the whole heap.
 */
import { join } from "node:path";
import { queryObjects } from "node:v8";
import { RocksLevel } from "rocksdb";
import { Rocks } from "../../src/storage/index.ts";

const ROUNDS = 150;
const ALL_ROWS = { from: Uint8Array.of(0x00), to: Uint8Array.of(0xff) };
const KEY = Uint8Array.of(0x61);

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  throw new Error("the directory is missing");
}
const constructors = await constructorsOf(join(directory, "probe"));
const rocks = await Rocks.open(join(directory, "used"), {
  createIfMissing: true,
  memtableBytes: 4 * 1024 * 1024,
  cacheBytes: 1024 * 1024,
});
for (let round = 0; round < ROUNDS; round++) {
  rocks.write([{ key: KEY, value: Uint8Array.of(1) }], false);
  rocks.scan(ALL_ROWS.from, ALL_ROWS.to, () => true);
  const [ended, left] = [rocks.view([ALL_ROWS, ALL_ROWS]), rocks.view([ALL_ROWS, ALL_ROWS])];
  while (ended.read(1_000).length > 0) {
    // Reads it to its end.
  }
  left.read(1);
  left.close();
}
const [batches, iterators] = constructors.map((made) => queryObjects(made, { format: "count" }));
process.stdout.write(JSON.stringify({ batches, iterators }));
await rocks.close();

/** @returns the classes of a batch and of an iterator, which the library does not export. */
async function constructorsOf(path: string): Promise<NewableFunction[]> {
  const probe = new RocksLevel(path, { keyEncoding: "buffer", valueEncoding: "buffer" });
  await probe.open({ createIfMissing: true });
  const batch = probe.batch();
  const iterator = probe.iterator({ gte: Buffer.from("a"), lt: Buffer.from("b") });
  batch._closeSync();
  iterator._closeSync();
  await probe.close();
  return [batch.constructor, iterator.constructor] as NewableFunction[];
}
