/** The StatefulSet as the planner sees it. */
import type { V1StatefulSet } from "@kubernetes/client-node";
import type { Wire } from "../kube/index.ts";
import type { AppliedSettings, SetView } from "../plan/index.ts";
import { CONFIG_INDEX, SETTINGS } from "./annotations.ts";
import { numberOf } from "./pod-view.ts";

export type StatefulSet = Wire<V1StatefulSet>;

export function setViewOf({ metadata = {}, spec, status }: StatefulSet): SetView {
  return {
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    replicas: spec?.replicas ?? 1,
    updateRevision: status?.updateRevision ?? "",
    caughtUp: status?.updateRevision !== undefined && status.observedGeneration === metadata.generation,
    storageClassName: spec?.volumeClaimTemplates?.[0]?.spec?.storageClassName ?? null,
    configIndex: numberOf(metadata.annotations?.[CONFIG_INDEX]),
    isOverwritten: false,
    settings: parseSettings(metadata.annotations?.[SETTINGS]),
  };
}

/** The format that `setViewOf` reads. */
export function settingsNote({ values, revision }: AppliedSettings): string {
  return JSON.stringify({ revision, values: Object.fromEntries(values) });
}

/**
 * @returns null for text that the operator has not written: the settings are then written again, which changes nothing
 */
function parseSettings(text: string | undefined): AppliedSettings | null {
  try {
    const note: unknown = JSON.parse(text ?? "null");
    const { revision, values } = (note ?? {}) as { revision?: unknown; values?: unknown };
    if (typeof revision !== "number" || typeof values !== "object" || values === null) {
      return null;
    }
    return { revision, values: new Map(Object.entries(values).map(([name, value]) => [name, String(value)])) };
  } catch {
    return null;
  }
}
