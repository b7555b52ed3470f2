/**
 * Collections for members that live for about a millisecond and are then unreachable.
 *
 * A Map or a Set with such members keeps garbage in memory. When its table grows, V8 leaves a reference from the old
 * table to the new one. Once one table is in the old generation, each later table stays alive through the one before.
 * So do all members that the later tables had at that time, until the next full collection. Each young-generation
 * collection copies all of that. The collections here keep no reference to a removed member.
 */

export { LinkedQueue, Links } from "./linked-queue.ts";
export { RecentTable } from "./recent-table.ts";
export { type Held, Shares } from "./shares.ts";
export { Turns, type TurnTiming, turnsOfThisThread } from "./turns.ts";
