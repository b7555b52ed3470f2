/**
 * Hashes passwords as a member does, but at once: for specs with stopped clocks, in which the turn of a queue would
 * never come.
 */

import { deriveInPool, type PasswordHashing } from "../src/access/index.ts";

export const unqueuedHashing: PasswordHashing = { run: (_lane, _order, use) => use(deriveInPool) };
