/** Attacks on a member by clients of HTTP/2, and what becomes of the member and of another client meanwhile. */

export { type AttackScale, FULL_SCALE, SHORT_SCALE } from "./attack.ts";
export { ATTACKS } from "./attacks.ts";
export { Siege, type SiegeRow } from "./siege.ts";
export type { Experience } from "./well-behaved-client.ts";
