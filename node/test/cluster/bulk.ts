/** Writes a lot, for tests that need a log to grow. */

import { hash, randomBytes } from "node:crypto";
import type { Client } from "@quoin/client";

const NAMESPACE = "default";
const VALUE_BYTES = 1024 * 1024;
/** Writes in flight. */
const IN_FLIGHT = 4;

/** By key, the hash of the value that was written last. */
export type Written = ReadonlyMap<string, string>;

/**
 * Puts values of one MiB under this many keys, again and again, until `isEnough` returns true.
 *
 * @param isEnough called before each write, with the number of writes so far.
 */
export async function writeMebibytes(
  client: Client,
  keys: number,
  isEnough: (writes: number) => boolean | Promise<boolean>,
): Promise<Written> {
  const written = new Map<string, string>();
  let writes = 0;
  const work = async (worker: number): Promise<void> => {
    // Each worker has keys of its own, so that the last value of each is known.
    for (let turn = 0; !(await isEnough(writes)); turn++) {
      writes++;
      const key = `bulk-${worker}-${turn % Math.ceil(keys / IN_FLIGHT)}`;
      const value = randomBytes(VALUE_BYTES);
      await client.keyValue.put(NAMESPACE, key, value, { timeoutMs: 30_000 });
      written.set(key, hash("sha256", value));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, worker) => work(worker)));
  return written;
}

/** Keys whose value, as the client reads it, is not the last one that was written. */
export async function wrongKeys(client: Client, written: Written): Promise<string[]> {
  const wrong: string[] = [];
  for (const [key, expected] of written) {
    const found = await client.keyValue.get(NAMESPACE, key, { timeoutMs: 30_000 });
    if (hash("sha256", found.value) !== expected) {
      wrong.push(key);
    }
  }
  return wrong;
}
