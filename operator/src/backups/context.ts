/** Dependencies of the backup controllers. */
import type { EventContent, KubeClient } from "../kube/index.ts";
import type { MemberClient } from "../members/index.ts";
import type { EndpointOf } from "../observe/index.ts";

/** The object of an event. */
export interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string };
}

export interface BackupsContext {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly endpointOf: EndpointOf;
  /** Milliseconds since 1970, by the API server's clock. */
  readonly now: () => number;
  /** Whether this operator holds the Lease, and will hold it for at least the duration of a write. */
  readonly mayWrite: () => boolean;
  readonly event: (subject: Subject, content: EventContent) => void;
  /** Called when a backup of a schedule has ended. */
  readonly onFinished: (namespace: string, schedule: string) => void;
}

/** Pause before the next pass when another operator is active or another write came first. */
export const RETRY_MS = 2_000;
