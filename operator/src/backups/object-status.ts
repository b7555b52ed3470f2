/** Writes the status of an object if it differs from the present one. */
import { isKubeError, type Kind } from "../kube/index.ts";
import { preconditionOf } from "../observe/index.ts";
import { clipped, timeText } from "../status/index.ts";
import type { BackupsContext } from "./context.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export type Verdict = Pick<Condition, "type" | "status" | "reason" | "message">;

interface WithStatus {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Keeps the transition time of each condition whose status does not change. */
export function conditionsOf({ metadata, status }: WithStatus, verdicts: readonly Verdict[], now: number): Condition[] {
  return verdicts.map((verdict) => {
    const before = status?.conditions?.find(({ type }) => type === verdict.type);
    return {
      ...verdict,
      message: clipped(verdict.message),
      observedGeneration: metadata.generation ?? 0,
      lastTransitionTime: before?.status === verdict.status ? before.lastTransitionTime : timeText(now),
    };
  });
}

/**
 * @returns whether the object has this status now; false if the object changed meanwhile
 * @throws KubeError
 */
export async function writeStatus(
  { client, mayWrite }: BackupsContext,
  kind: Kind,
  object: WithStatus,
  status: object,
): Promise<boolean> {
  if (sortedText(object.status ?? {}) === sortedText(status)) {
    return true;
  }
  if (!mayWrite()) {
    return false;
  }
  const { name, namespace = "" } = object.metadata;
  try {
    await client.patchStatus({ kind, namespace, name }, preconditionOf(object), status);
    return true;
  } catch (error) {
    if (!isKubeError(error, "conflict", "missing")) {
      throw error;
    }
    return false;
  }
}

function sortedText(value: object): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
