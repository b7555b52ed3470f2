/**
 * Hashes passwords at once and for next to nothing, for specs that are not about the cost of a hash. The stored texts
 * have the form of real ones. `password.spec.ts` tests the real cost.
 */

import { type Derive, deriveInPool, type PasswordHashing } from "../src/access/index.ts";

const CHEAPEST = { ln: 1, r: 1, p: 1 } as const;

/** Like the real function, it depends on password, salt and parameters, and its result comes in a later turn. */
export const deriveCheaply: Derive = (password, salt, bytes, parameters) => {
  const salted = Buffer.concat([salt, Buffer.from(JSON.stringify(parameters))]);
  return deriveInPool(password, salted, bytes, CHEAPEST);
};

export const cheapHashing: PasswordHashing = { run: (_lane, _order, use) => use(deriveCheaply) };
