/** A load at a fixed rate, whose calls may fail only while a fault is in progress. */

export { assertThat, type CallIdentity, Calls, type CallTime, SoakError } from "./calls.ts";
export { FaultTimes } from "./fault-times.ts";
export { type Action, Pace } from "./pace.ts";
export { Pool } from "./pool.ts";
