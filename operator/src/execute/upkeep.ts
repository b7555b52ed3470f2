/** Writes for the upkeep. */
import {
  CLUSTER_ID,
  CONFIG_INDEX,
  MEMBER_ID,
  noteUndone,
  OWNER_PENDING,
  ownerSecretName,
  preconditionOf,
  SETTINGS,
  setReference,
  settingsNote,
  signed,
  TERM,
  type Wish,
  wishKey,
} from "../observe/index.ts";
import type { Upkeep } from "../plan/index.ts";
import { ROLE_LABEL, renderBudget } from "../render/index.ts";
import { ownerOf } from "./step.ts";
import { versionOf, type Writing } from "./writing.ts";

/** @throws KubeError, MemberError, PlanExpired */
export async function doUpkeep(writing: Writing, action: Upkeep): Promise<void> {
  switch (action.kind) {
    case "apply": {
      const wish = writing.observation.wishes.get(wishKey(action.object));
      if (wish !== undefined) {
        await fulfil(writing, wish);
        noteIfUndone(writing, wish);
      }
      return;
    }
    case "budget":
      return await setBudget(writing, action.minAvailable);
    case "label-pod": {
      const labels = { [ROLE_LABEL]: action.role };
      const annotations = { [TERM]: String(action.term) };
      await writing.client.patch(writing.pod(action), versionOf(action), { metadata: { labels, annotations } });
      return;
    }
    case "stamp-config-index":
      return await noteOnSet(writing, action.resourceVersion, CONFIG_INDEX, String(action.index));
    case "annotate-claim": {
      const annotations = { [CLUSTER_ID]: action.clusterId, [MEMBER_ID]: String(action.memberId) };
      await writing.client.patch(writing.claim(action), versionOf(action), { metadata: { annotations } });
      return;
    }
    case "grow-claim": {
      const spec = { resources: { requests: { storage: action.size } } };
      await writing.client.patch(writing.claim(action), versionOf(action), { spec });
      return;
    }
    case "reset-owner":
      return await resetOwner(writing);
    case "put-settings": {
      const { values, ifSettingsRevision } = action;
      const revision = await writing.members.putSettings(writing.leader, values, ifSettingsRevision);
      const version = writing.observation.observed.set?.resourceVersion ?? "";
      return await noteOnSet(writing, version, SETTINGS, settingsNote({ values, revision }));
    }
  }
}

/** Writes the Secret first. A reader that is early retries, and no setting is lost. */
async function resetOwner(writing: Writing): Promise<void> {
  const { owner } = writing.observation.reading;
  await writing.members.resetOwner(writing.leader, ownerOf(writing));
  if (owner !== null) {
    const reference = writing.reference("Secret", ownerSecretName(writing.cluster));
    const metadata = { annotations: { [OWNER_PENDING]: null } };
    await writing.client.patch(reference, preconditionOf(owner), { metadata });
  }
}

/** @returns the object that an action changes, for people */
export function targetOf(writing: Writing, action: Upkeep): string {
  switch (action.kind) {
    case "apply":
      return `${action.object.kind} ${action.object.name}`;
    case "budget":
      return `PodDisruptionBudget ${setReference(writing.cluster).name}`;
    case "label-pod":
      return writing.pod(action).name;
    case "annotate-claim":
    case "grow-claim":
      return writing.claim(action).name;
    case "stamp-config-index":
      return `StatefulSet ${setReference(writing.cluster).name}`;
    case "reset-owner":
      return `Secret ${ownerSecretName(writing.cluster)}`;
    case "put-settings":
      return writing.cluster.metadata.name;
  }
}

async function fulfil(writing: Writing, wish: Wish): Promise<void> {
  const { reference } = wish;
  switch (wish.how) {
    case "apply":
      await writing.client.apply(reference, wish.manifest);
      return;
    case "replace":
      await writing.client.replace(reference, wish.precondition, wish.parts);
      return;
    case "create":
      await writing.client.create(reference, wish.manifest());
      return;
    case "own":
      await writing.client.patch(reference, wish.precondition, { metadata: { ownerReferences: wish.owners } });
      return;
    case "note":
      await writing.client.patch(reference, wish.precondition, { metadata: { annotations: wish.annotations } });
      return;
    case "remove":
      await writing.client.remove(reference, wish.precondition);
  }
}

function noteIfUndone({ memory, observation }: Writing, wish: Wish): void {
  if ((wish.how === "apply" || wish.how === "replace") && wish.undoes !== null) {
    noteUndone(memory, wishKey(wish.reference), observation.observed.now);
  }
}

async function setBudget(writing: Writing, minAvailable: number | null): Promise<void> {
  const reference = { ...setReference(writing.cluster), kind: "PodDisruptionBudget" } as const;
  const { budget } = writing.observation.reading;
  if (minAvailable !== null) {
    await writing.client.apply(reference, signed(renderBudget(writing.cluster, minAvailable)));
  } else if (budget !== null) {
    await writing.client.remove(reference, preconditionOf(budget));
  }
}

async function noteOnSet(writing: Writing, resourceVersion: string, name: string, value: string): Promise<void> {
  const uid = writing.observation.observed.set?.uid ?? "";
  const metadata = { annotations: { [name]: value } };
  await writing.client.patch(setReference(writing.cluster), { uid, resourceVersion }, { metadata });
}
