/** Attacks on a member by HTTP/2 clients, with their effects on the member and on another client. */

export { type AttackScale, FULL_SCALE, SHORT_SCALE } from "./attack.ts";
export { ATTACKS } from "./attacks.ts";
export { Siege, type SiegeRow } from "./siege.ts";
export type { Experience } from "./well-behaved-client.ts";
