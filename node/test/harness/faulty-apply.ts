/**
 * Makes a member store wrong values, as a fault of its program or memory would. It flips a bit of the last byte of each
 * value that is put to a key that begins with "faulty".
 *
 * `--import` loads it before the program, in each of its processes and threads.
 */

import { registerHooks } from "node:module";

const MODULE = new URL("../../src/state/keys/keys.ts", import.meta.url).href;
const RIGHT = "context.transaction.put(row.key, encodeStoredKey(stored), row.hash);";
const WRONG = `const faulty = encodeStoredKey(stored);
  if (decodeText(key).startsWith("faulty")) {
    faulty[faulty.length - 1] ^= 1;
  }
  context.transaction.put(row.key, faulty, row.hash);`;

registerHooks({
  load(url, context, nextLoad) {
    const result = nextLoad(url, context);
    if (url !== MODULE) {
      return result;
    }
    const source = Buffer.from(result.source as Uint8Array).toString("utf8");
    if (!source.includes(RIGHT)) {
      throw new Error("what is to go wrong is not there any more");
    }
    return { ...result, source: source.replace(RIGHT, WRONG) };
  },
});
