/** The operator's own way to the API server: requests, changes as they come, work by key, and who of several works. */
export { CachedReads, isRemembered, type Reads } from "./cached-reads.ts";
export { KubeClient, type Part, type Precondition, type RequestObserver } from "./client.ts";
export { type Connection, connect, defaultConnection } from "./connection.ts";
export { Elector } from "./elector.ts";
export { isKubeError, KubeError } from "./kube-error.ts";
export { type EventContent, type EventSubject, Recorder } from "./recorder.ts";
export { Reflector } from "./reflector.ts";
export { isKind, type Kind, type Reference } from "./resources.ts";
export { systemTiming, type Timing } from "./timing.ts";
export type { KubeObject, Wire } from "./wire.ts";
export { WorkQueue } from "./work-queue.ts";
