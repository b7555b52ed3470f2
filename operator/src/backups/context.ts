/** What the controllers of backups work with. */
import type { EventContent, KubeClient } from "../kube/index.ts";
import type { MemberClient } from "../members/index.ts";
import type { EndpointOf } from "../observe/index.ts";

/** An object that an event is about. */
export interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string };
}

export interface BackupsContext {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly endpointOf: EndpointOf;
  /** Milliseconds since 1970, as the API server counts them. */
  readonly now: () => number;
  /** Whether this operator is the one that works, and will be for as long as a write takes. */
  readonly mayWrite: () => boolean;
  readonly event: (subject: Subject, content: EventContent) => void;
  /** A backup that a schedule has made has ended. */
  readonly onFinished: (namespace: string, schedule: string) => void;
}

/** Another operator works, or somebody was faster: look again, but not in a circle without a pause. */
export const AGAIN_MS = 2_000;
