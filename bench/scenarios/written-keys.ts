/** Keys that exist before the measurement. */

import type { Connection } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { greater } from "./revisions.ts";

/** Keys to read in turn. */
export const KEYS_READ = 1000;
/** Requests in flight during their creation. */
const KEYS_WRITTEN_AT_ONCE = 50;

/** Puts the value under the key of each number below KEYS_READ, and returns their greatest revision. */
export async function writeKeysToRead(
  connection: Connection,
  keyOf: (number: number) => string,
  value: Buffer,
): Promise<bigint> {
  const names = Array.from({ length: KEYS_READ }, (_, number) => keyOf(number));
  let revision = 0n;
  while (names.length > 0) {
    const batch = names.splice(0, KEYS_WRITTEN_AT_ONCE);
    const revisions = await Promise.all(batch.map((name) => keysOf(connection).put(name, value)));
    revision = revisions.reduce(greater, revision);
  }
  return revision;
}
