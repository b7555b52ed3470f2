/**
 * Collections of what lives for a millisecond and then is in nothing any more.
 *
 * A Map or a Set with such members keeps garbage in memory. When it makes room, V8 leaves a reference from its former
 * table to its next one. Once one table is in the old generation, each later one is kept alive by the one before, with
 * every member that it had at that time, until the next full collection. All of that is copied by each collection of the
 * young generation. These collections hold no reference to what was taken out.
 */

export { LinkedQueue, Links } from "./linked-queue.ts";
export { RecentTable } from "./recent-table.ts";
