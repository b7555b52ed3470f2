/** Writes for the upkeep. */
import {
  CLUSTER_ID,
  CONFIG_INDEX,
  type DesiredWrite,
  MEMBER_ID,
  noteUndone,
  OWNER_PENDING,
  objectKey,
  ownerSecretName,
  preconditionOf,
  SETTINGS,
  setReference,
  settingsNote,
  signed,
  TERM,
} from "../observe/index.ts";
import type { Upkeep } from "../plan/index.ts";
import { ROLE_LABEL, renderBudget } from "../render/index.ts";
import { type PlanExecution, versionOf } from "./plan-execution.ts";
import { ownerOf } from "./step.ts";

/** @throws KubeError, MemberError, PlanExpired */
export async function doUpkeep(execution: PlanExecution, action: Upkeep): Promise<void> {
  switch (action.kind) {
    case "apply": {
      const desiredWrite = execution.observation.desiredWrites.get(objectKey(action.object));
      if (desiredWrite !== undefined) {
        await fulfil(execution, desiredWrite);
        noteIfUndone(execution, desiredWrite);
      }
      return;
    }
    case "budget":
      return await setBudget(execution, action.minAvailable);
    case "label-pod": {
      const labels = { [ROLE_LABEL]: action.role };
      const annotations = { [TERM]: String(action.term) };
      await execution.client.patch(execution.pod(action), versionOf(action), { metadata: { labels, annotations } });
      return;
    }
    case "note-config-index":
      return await noteOnSet(execution, action.resourceVersion, CONFIG_INDEX, String(action.index));
    case "annotate-claim": {
      const annotations = { [CLUSTER_ID]: action.clusterId, [MEMBER_ID]: String(action.memberId) };
      await execution.client.patch(execution.claim(action), versionOf(action), { metadata: { annotations } });
      return;
    }
    case "grow-claim": {
      const spec = { resources: { requests: { storage: action.size } } };
      await execution.client.patch(execution.claim(action), versionOf(action), { spec });
      return;
    }
    case "reset-owner":
      return await resetOwner(execution);
    case "put-settings": {
      const { values, ifSettingsRevision } = action;
      const revision = await execution.members.putSettings(execution.leader, values, ifSettingsRevision);
      const version = execution.observation.observed.set?.resourceVersion ?? "";
      return await noteOnSet(execution, version, SETTINGS, settingsNote({ values, revision }));
    }
  }
}

/** Writes the Secret first. A reader that is early retries, and no setting is lost. */
async function resetOwner(execution: PlanExecution): Promise<void> {
  const { owner } = execution.observation.reading;
  await execution.members.resetOwner(execution.leader, ownerOf(execution));
  if (owner !== null) {
    const reference = execution.reference("Secret", ownerSecretName(execution.cluster));
    const metadata = { annotations: { [OWNER_PENDING]: null } };
    await execution.client.patch(reference, preconditionOf(owner), { metadata });
  }
}

/** @returns the object that an action changes, for people */
export function targetOf(execution: PlanExecution, action: Upkeep): string {
  switch (action.kind) {
    case "apply":
      return `${action.object.kind} ${action.object.name}`;
    case "budget":
      return `PodDisruptionBudget ${setReference(execution.cluster).name}`;
    case "label-pod":
      return execution.pod(action).name;
    case "annotate-claim":
    case "grow-claim":
      return execution.claim(action).name;
    case "note-config-index":
      return `StatefulSet ${setReference(execution.cluster).name}`;
    case "reset-owner":
      return `Secret ${ownerSecretName(execution.cluster)}`;
    case "put-settings":
      return execution.cluster.metadata.name;
  }
}

async function fulfil(execution: PlanExecution, desiredWrite: DesiredWrite): Promise<void> {
  const { reference } = desiredWrite;
  switch (desiredWrite.how) {
    case "apply":
      await execution.client.apply(reference, desiredWrite.manifest);
      return;
    case "replace":
      await execution.client.replace(reference, desiredWrite.precondition, desiredWrite.parts);
      return;
    case "create":
      await execution.client.create(reference, desiredWrite.manifest());
      return;
    case "own":
      await execution.client.patch(reference, desiredWrite.precondition, {
        metadata: { ownerReferences: desiredWrite.owners },
      });
      return;
    case "note":
      await execution.client.patch(reference, desiredWrite.precondition, {
        metadata: { annotations: desiredWrite.annotations },
      });
      return;
    case "remove":
      await execution.client.remove(reference, desiredWrite.precondition);
  }
}

function noteIfUndone({ memory, observation }: PlanExecution, desiredWrite: DesiredWrite): void {
  if ((desiredWrite.how === "apply" || desiredWrite.how === "replace") && desiredWrite.undoes !== null) {
    noteUndone(memory, objectKey(desiredWrite.reference), observation.observed.now);
  }
}

async function setBudget(execution: PlanExecution, minAvailable: number | null): Promise<void> {
  const reference = { ...setReference(execution.cluster), kind: "PodDisruptionBudget" } as const;
  const { budget } = execution.observation.reading;
  if (minAvailable !== null) {
    const manifest = renderBudget(execution.cluster, minAvailable);
    if (budget?.spec?.maxUnavailable === undefined) {
      await execution.client.apply(reference, signed(manifest));
    } else {
      // Another writer has switched it. An apply would leave that field, and a budget may have only one of both.
      await execution.client.replace(reference, preconditionOf(budget), [{ path: "/spec", value: manifest.spec }]);
    }
  } else if (budget !== null) {
    await execution.client.remove(reference, preconditionOf(budget));
  }
}

async function noteOnSet(
  execution: PlanExecution,
  resourceVersion: string,
  name: string,
  value: string,
): Promise<void> {
  const uid = execution.observation.observed.set?.uid ?? "";
  const metadata = { annotations: { [name]: value } };
  await execution.client.patch(setReference(execution.cluster), { uid, resourceVersion }, { metadata });
}
