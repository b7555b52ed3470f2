/** Hashes passwords as a member does, but at once: for specs whose clocks stand still, so that no turn would come. */

import { deriveInPool, type PasswordHashing } from "../src/access/index.ts";

export const unqueuedHashing: PasswordHashing = { run: (_lane, _order, use) => use(deriveInPool) };
