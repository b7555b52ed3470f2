/** Locks, their holders and their queues. */

export { LocksPage } from "./locks-page.tsx";
