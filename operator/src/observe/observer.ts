/**
 * One observation of a cluster: the API server's objects, the members' answers, and the objects that differ from what
 * is wanted. It writes nothing, except a dry run of the wanted set.
 */
import type { CertificatePlan, CertificateWrite, PlanCertificates } from "../certificates/index.ts";
import {
  isKubeError,
  type Kind,
  type KubeClient,
  KubeError,
  type Part,
  type Reads,
  type Reference,
} from "../kube/index.ts";
import type { MemberAddress, MemberClient } from "../members/index.ts";
import type { CoordinationCluster, Identity, Observed, Refusal } from "../plan/index.ts";
import { parseQuantity } from "../quantity/index.ts";
import { type Manifest, metadataOf, namesOf, namespaceOf, renderBudget, type Settings } from "../render/index.ts";
import type { Problem, Surroundings } from "../status/index.ts";
import { adoptionWrite, encryptionRefusal } from "./adoption.ts";
import { APPLIED, OWNER_PENDING } from "./annotations.ts";
import { observeBackups } from "./backup-observation.ts";
import { type Claim, claimViewOf } from "./claim-view.ts";
import {
  type DesiredObjects,
  desiredObjects,
  ownerWrite,
  type SetManifest,
  secretOf,
  setMatchesManifest,
  tokensWrite,
  withoutPlacement,
} from "./desired-objects.ts";
import {
  type DesiredWrite,
  type DesiredWrites,
  durableMetadata,
  matchesManifest,
  objectKey,
  ownershipWrite,
  preconditionOf,
  signed,
} from "./desired-write.ts";
import { covers, digestOf } from "./difference.ts";
import { driftCorrectionOf, isContested, undoneBy } from "./drift-correction.ts";
import { lastAcceptedWrite, withLastAcceptedSpecification } from "./last-accepted-specification.ts";
import type { DryRun, Memory } from "./memory.ts";
import { findObstacles } from "./obstacles.ts";
import { conflictOf, observeOwnedObjects } from "./owned-objects.ts";
import { podViewOf, timeOf } from "./pod-view.ts";
import { ownerSecretName, type Reading, readCluster, readExpandable } from "./reader.ts";
import { observeRecovery } from "./recovery-view.ts";
import { type Answers, addressesOf, askMembers, type EndpointOf } from "./reports.ts";
import { hasRestoreFlag } from "./restore-source.ts";
import { sentinelWrite } from "./sentinel.ts";
import { type StatefulSet, setViewOf } from "./set-view.ts";
import { storageClassRefusal } from "./storage-class.ts";

/** After this long, a refused template is tried again. */
const DRY_RUN_RETRY_MS = 60_000;

export interface ObserverOptions {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly settings: Settings;
  readonly planCertificates: PlanCertificates;
  /** Milliseconds since 1970, by the API server's clock. */
  readonly now: () => number;
  readonly endpointOf: EndpointOf;
  /** Called for members that did not answer. */
  readonly onSilent: (error: unknown) => void;
  /** Called when the events about a missing pod or volume cannot be read. */
  readonly onUnknown: (error: unknown) => void;
}

export interface Observation {
  readonly observed: Observed;
  readonly surroundings: Omit<Surroundings, "failures">;
  readonly reading: Reading;
  readonly desiredWrites: DesiredWrites;
  /** Input of the set's manifest; null if the specification cannot be followed. */
  readonly set: SetManifest | null;
  readonly addresses: ReadonlyMap<number, MemberAddress>;
  readonly askable: readonly MemberAddress[];
  /** Whether a certificate must be replaced. */
  readonly renewed: boolean;
}

export class Observer {
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#options.now();
  }

  /**
   * @param asked with version and repository
   * @param reads those of the API server itself, if the result is used for writes
   * @throws KubeError if the API server cannot be reached
   */
  async observe(asked: CoordinationCluster, memory: Memory, reads: Reads): Promise<Observation> {
    const { client, members, endpointOf, onSilent, onUnknown } = this.#options;
    const { now } = this;
    const { cluster, reading, wanted, rejection, setWrite } = await this.#readSpec(asked, memory, reads);
    const addresses = addressesOf(cluster, reading, endpointOf);
    const answers = await askMembers(members, addresses, reading.pods, onSilent);
    const owned = await observeOwnedObjects({ client, reads, cluster, manifests: wanted.ownedManifests, memory, now });
    const backup = await observeBackups({
      members,
      cluster,
      reading,
      addresses,
      reports: answers.reports,
      memory,
      now,
      onSilent,
    });
    const certificates = await this.#planCertificates(cluster, reading, answers, now);
    const views = await this.#views(cluster, reading, memory, reads);
    const obstacles = await findObstacles({ client, cluster, reading, memory, now, onUnknown });
    const recovery = await observeRecovery(client, cluster, reading);
    const refusal =
      setConflict(cluster, reading) ??
      encryptionRefusal(cluster, reading) ??
      rejection ??
      ofRunningCluster(owned.refusal, reading);
    const hasForm = answers.known !== null || views.claims.some(({ memberId }) => typeof memberId === "number");
    const desiredWrites = new Map([
      ...keyed(adoptionWrites(cluster, reading)),
      ...keyed(certificates.writes.map((write) => desiredCertificateWrite(cluster, write))),
      ...keyed(await this.#secretWrites(cluster, reading, hasForm, reads)),
      ...owned.desiredWrites,
      ...keyed([setWrite, await this.#budgetWrite(cluster, reading, memory)]),
      ...keyed(ownershipWrites(cluster, reading, views)),
      ...keyed([refusal === null ? lastAcceptedWrite(cluster, reading) : null]),
    ]);
    for (const [key, desiredWrite] of desiredWrites) {
      if ("undoes" in desiredWrite && desiredWrite.undoes !== null && isContested(memory, key, now)) {
        desiredWrites.delete(key);
      }
    }
    const observed: Observed = {
      now,
      cluster,
      refusal,
      ...views,
      set: views.set && { ...views.set, isOverwritten: (setWrite?.undoes ?? null) !== null },
      obstacles,
      reports: answers.reports,
      configuration: answers.configuration,
      known: answers.known,
      leaderlessSince: leaderlessSince(cluster, answers, memory, now),
      minAvailable: minAvailableOf(reading),
      drift: [...desiredWrites.values()].map(({ reference: { kind, name } }) => ({ kind, name })),
      ownerPending: isOwnerPending(reading),
      recovery,
      restore: reading.restore && { problem: reading.restore.problem, isInForce: hasRestoreFlag(reading.set) },
      attempts: memory.attempts,
    };
    return {
      observed,
      surroundings: {
        tlsProblem: owned.tlsProblem ?? certificates.problem,
        monitoringProblem: owned.monitoringProblem,
        ownerProblem: ownerProblemOf(cluster, reading, hasForm),
        tls: certificates.tls,
        backup,
      },
      reading,
      desiredWrites,
      addresses,
      set: wanted.set,
      askable: answers.askable,
      renewed: certificates.renewed,
    };
  }

  /** The specification to follow: the present one or, while that is refused, the last accepted one. */
  async #readSpec(asked: CoordinationCluster, memory: Memory, reads: Reads): Promise<SpecReading> {
    const { settings } = this.#options;
    const reading = await readCluster(reads, asked);
    const wanted = desiredObjects(asked, reading, settings);
    const verdict = await this.#checkSet(asked, reading, wanted.set, memory, "asked");
    const rejection = wanted.refusal ?? verdict.refusal ?? storageClassRefusal(asked, reading);
    const accepted = rejection === null ? null : withLastAcceptedSpecification(asked, reading);
    if (rejection === null || accepted === null) {
      return { cluster: asked, reading, wanted, rejection, setWrite: verdict.setWrite };
    }
    const { cluster, generation } = accepted;
    const message = `generation ${generation} stays in force: ${rejection.message}`;
    // The specification determines which Secrets to read.
    const readAgain = await readCluster(reads, cluster);
    const wantedAgain = desiredObjects(cluster, readAgain, settings);
    const { setWrite: desiredWrite } = await this.#checkSet(cluster, readAgain, wantedAgain.set, memory, "accepted");
    return {
      cluster,
      reading: readAgain,
      wanted: wantedAgain,
      rejection: { ...rejection, message, keepsReconciling: true },
      setWrite: desiredWrite,
    };
  }

  async #views(cluster: CoordinationCluster, reading: Reading, memory: Memory, reads: Reads): Promise<Views> {
    const identity = identityOf(reading);
    const setCreated = timeOf(reading.set?.metadata?.creationTimestamp) ?? null;
    const expandable = await readExpandable(reads, smallClaim(cluster, reading));
    const surroundings = { cluster, identity, setCreated, expandable };
    const pods = [...reading.pods].map(([ordinal, pod]) => podViewOf(pod, ordinal, memory.started));
    memory.started.clear();
    for (const { uid, everStarted } of pods) {
      if (everStarted) {
        memory.started.add(uid);
      }
    }
    return {
      identity,
      set: reading.set === null ? null : setViewOf(reading.set),
      pods,
      claims: [...reading.claims].map(([ordinal, claim]) => claimViewOf(claim, ordinal, surroundings)),
    };
  }

  #planCertificates(
    cluster: CoordinationCluster,
    reading: Reading,
    answers: Answers,
    now: number,
  ): Promise<CertificatePlan> {
    const { authority, server, trust } = reading;
    const { clusterDomain } = this.#options.settings;
    const stored = { authority, server, trust } as Pick<
      Parameters<PlanCertificates>[0],
      "authority" | "server" | "trust"
    >;
    return this.#options.planCertificates({ now, cluster, clusterDomain, reports: answers.reports, ...stored });
  }

  async #secretWrites(
    cluster: CoordinationCluster,
    reading: Reading,
    hasForm: boolean,
    reads: Reads,
  ): Promise<(DesiredWrite | null)[]> {
    const foundedAt = hasForm ? (reading.identity?.metadata?.creationTimestamp ?? "") : null;
    return [
      reading.tokens === null ? tokensWrite(cluster) : null,
      reading.owner === null ? await ownerWrite(reads, cluster, foundedAt) : null,
      await sentinelWrite(reads, cluster, reading),
    ];
  }

  /**
   * Whether the set matches what is wanted, and whether the API server would admit it. Only the API server knows,
   * because it adds defaults and normalizes quantities. A dry run asks it once for each pair of wanted and existing
   * set.
   */
  async #checkSet(
    cluster: CoordinationCluster,
    { set: live }: Reading,
    set: SetManifest | null,
    memory: Memory,
    which: "asked" | "accepted",
  ): Promise<SetCheck> {
    const { now } = this;
    if (set === null || conflictOf(cluster, setReference(cluster), live) !== null) {
      return { refusal: null, setWrite: null };
    }
    const key = digestOf([set.metadata?.annotations?.[APPLIED], live && withoutPlacement(live.spec ?? {})]);
    const before = memory.dryRuns.get(which);
    const isFresh = before?.key === key && now - before.at < before.validMs;
    const dryRun = isFresh ? before : { key, at: now, ...(await this.#dryRun(cluster, live, set)) };
    memory.dryRuns.set(which, dryRun);
    const isAsWished = dryRun.isSame && covers(live?.metadata, set.metadata);
    return {
      refusal: dryRun.refusal,
      setWrite:
        live === null || isAsWished || dryRun.refusal !== null
          ? null
          : {
              how: "replace",
              reference: setReference(cluster),
              precondition: preconditionOf(live),
              parts: partsOf(live, set),
              undoes: undoneBy(live, set),
            },
    };
  }

  /** @returns null if the object has changed: the write will find that, too, and the next pass observes again */
  async #dryRun(
    cluster: CoordinationCluster,
    live: StatefulSet | null,
    set: SetManifest,
  ): Promise<Omit<DryRun, "key" | "at">> {
    const { client } = this.#options;
    const reference = setReference(cluster);
    try {
      if (live === null) {
        await client.apply(reference, set, { dryRun: true });
        return { refusal: null, isSame: false, validMs: Number.POSITIVE_INFINITY };
      }
      const parts = partsOf(live, set);
      const result = await client.replace<StatefulSet>(reference, preconditionOf(live), parts, { dryRun: true });
      const [then, now] = [result, live].map(({ spec }) => digestOf(withoutPlacement(spec ?? {})));
      return { refusal: null, isSame: then === now, validMs: Number.POSITIVE_INFINITY };
    } catch (error) {
      // The object has changed. The write will find that, too, and the next pass observes again.
      if (isKubeError(error, "terminating", "conflict", "missing")) {
        return { refusal: null, isSame: false, validMs: 0 };
      }
      if (!(error instanceof KubeError) || error.status === 0) {
        throw error;
      }
      // Forbidden: a policy of the Kubernetes cluster refuses the set, and that cause may go away.
      const isJudged = isKubeError(error, "invalid", "forbidden");
      const validMs = isJudged ? DRY_RUN_RETRY_MS : 0;
      // The set itself does not change, so a refusal of this write is not a refusal of the specification.
      if (live !== null && setMatchesManifest(live, set)) {
        return { refusal: null, isSame: true, validMs };
      }
      // For example, a webhook does not answer. This stops new templates, and nothing else.
      const reason = isJudged ? "OverlayRejected" : "TemplateNotTried";
      return { refusal: { reason, message: error.explanation, keepsReconciling: false }, isSame: false, validMs };
    }
  }

  async #budgetWrite(cluster: CoordinationCluster, { budget }: Reading, memory: Memory): Promise<DesiredWrite | null> {
    const number = budget?.spec?.minAvailable;
    if (budget === null || typeof number !== "number") {
      return null;
    }
    const reference = { ...setReference(cluster), kind: "PodDisruptionBudget" } as const;
    const manifest = signed(renderBudget(cluster, number));
    return matchesManifest(budget, manifest)
      ? await driftCorrectionOf(this.#options.client, memory, reference, budget, manifest)
      : { how: "apply", reference, manifest, undoes: undoneBy(budget, manifest) };
  }
}

/**
 * The parts that the operator writes to an existing set: the whole specification, and annotations in addition to those
 * of others.
 */
function partsOf(live: StatefulSet, { metadata, spec }: SetManifest): Part[] {
  const { labels, annotations, ownerReferences = [] } = live.metadata ?? {};
  const wanted = metadata?.ownerReferences ?? [];
  const others = ownerReferences.filter(({ uid }) => !wanted.some((owner) => owner.uid === uid));
  return [
    { path: "/metadata/labels", value: { ...labels, ...metadata?.labels } },
    { path: "/metadata/annotations", value: { ...annotations, ...metadata?.annotations } },
    { path: "/metadata/ownerReferences", value: [...others, ...wanted] },
    { path: "/spec", value: spec },
  ];
}

interface SpecReading {
  readonly cluster: CoordinationCluster;
  readonly reading: Reading;
  readonly wanted: DesiredObjects;
  /** Why the operator does not follow the present specification. */
  readonly rejection: Refusal | null;
  readonly setWrite: SetWrite | null;
}

type SetWrite = DesiredWrite & { how: "replace" };

interface SetCheck {
  readonly refusal: Refusal | null;
  readonly setWrite: SetWrite | null;
}

type Views = Pick<Observed, "identity" | "set" | "pods" | "claims">;

export function setReference(cluster: CoordinationCluster): Reference {
  return { kind: "StatefulSet", namespace: namespaceOf(cluster), name: namesOf(cluster).set };
}

/** A claim whose volume must grow, if any; without one, the storage class need not be read. */
function smallClaim({ spec }: CoordinationCluster, { claims }: Reading): Claim | undefined {
  const size = parseQuantity(spec.storage.size) ?? 0;
  const isSmall = (quantity: string | undefined): boolean => (parseQuantity(quantity ?? "") ?? size) < size;
  return [...claims.values()].find(
    (claim) => isSmall(claim.spec?.resources?.requests?.storage) || isSmall(claim.status?.capacity?.storage),
  );
}

function keyed(desiredWrites: readonly (DesiredWrite | null)[]): [string, DesiredWrite][] {
  return desiredWrites.flatMap((desiredWrite) =>
    desiredWrite === null ? [] : [[objectKey(desiredWrite.reference), desiredWrite]],
  );
}

function identityOf({ identity }: Reading): Identity | null {
  const { clusterId, founder, founderIncarnation } = identity?.data ?? {};
  return clusterId === undefined || founder === undefined || founderIncarnation === undefined
    ? null
    : { clusterId, founder, founderIncarnation };
}

function setConflict(cluster: CoordinationCluster, reading: Reading): Refusal | null {
  const reference = setReference(cluster);
  return (
    conflictOf(cluster, reference, reading.set) ??
    conflictOf(cluster, { ...reference, kind: "PodDisruptionBudget" }, reading.budget) ??
    identityConflict(cluster, reading)
  );
}

/** A ConfigMap without an identity has the identity's name. The operator then founds nothing. */
function identityConflict(cluster: CoordinationCluster, reading: Reading): Refusal | null {
  if (reading.identity === null || identityOf(reading) !== null) {
    return null;
  }
  const message =
    `ConfigMap ${namesOf(cluster).identity} does not hold clusterId, founder and founderIncarnation: ` +
    "delete it, and the operator creates it again";
  return { reason: "NameConflict", message, keepsReconciling: false };
}

/**
 * A foreign object with the name of an owned one blocks the founding of a cluster. Later it blocks only its own write.
 */
function ofRunningCluster(refusal: Refusal | null, { set }: Reading): Refusal | null {
  return refusal === null ? null : { ...refusal, keepsReconciling: set !== null };
}

function withVersion(manifest: Manifest, resourceVersion: string): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, resourceVersion } };
}

function ownershipWrites(cluster: CoordinationCluster, reading: Reading, views: Views): (DesiredWrite | null)[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const desiredWrite = (kind: Kind, name: string, live: Parameters<typeof ownershipWrite>[2]): DesiredWrite | null =>
    ownershipWrite(cluster, { kind, namespace, name }, live);
  return [
    desiredWrite("ConfigMap", names.identity, reading.identity),
    desiredWrite("Secret", ownerSecretName(cluster), reading.owner),
    desiredWrite("Secret", names.authorities, reading.authority),
    ...views.claims
      .filter(({ ours }) => ours)
      .map(({ ordinal }) =>
        desiredWrite("PersistentVolumeClaim", `data-${names.set}-${ordinal}`, reading.claims.get(ordinal) ?? null),
      ),
  ];
}

/** Of objects that are written only when their content changes. */
function adoptionWrites(cluster: CoordinationCluster, { tokens, trust, server }: Reading): (DesiredWrite | null)[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const desiredWrite = (kind: Kind, name: string, live: Parameters<typeof adoptionWrite>[2]): DesiredWrite | null =>
    adoptionWrite(cluster, { kind, namespace, name }, live);
  return [
    desiredWrite("Secret", names.tokens, tokens),
    desiredWrite("ConfigMap", names.authorities, trust),
    // In the other modes, others create it.
    cluster.spec.tls.mode === "Auto" ? desiredWrite("Secret", names.serverTls, server) : null,
  ];
}

function desiredCertificateWrite(cluster: CoordinationCluster, write: CertificateWrite): DesiredWrite {
  const { kind, name, annotations, data, replaces, durable } = write;
  const reference = { kind, namespace: namespaceOf(cluster), name };
  const metadata = {
    ...(durable ? durableMetadata(cluster, name) : metadataOf(cluster, name)),
    ...(annotations === undefined ? {} : { annotations }),
  };
  const manifest =
    kind === "Secret" ? secretOf(metadata, data) : { apiVersion: "v1", kind: "ConfigMap", metadata, data };
  return replaces === null
    ? { how: "create", reference, manifest: () => manifest }
    : { how: "apply", reference, manifest: withVersion(manifest, replaces), undoes: null };
}

function isOwnerPending({ owner }: Reading): boolean {
  return owner?.metadata?.annotations?.[OWNER_PENDING] !== undefined;
}

/** @param isFounded whether there is data already */
function ownerProblemOf(cluster: CoordinationCluster, reading: Reading, isFounded: boolean): Problem | null {
  const name = ownerSecretName(cluster);
  if (reading.owner === null && !isFounded) {
    return { reason: "NotFounded", message: `Secret ${name} is made before the first member starts` };
  }
  if (reading.owner === null) {
    const source = cluster.spec.access.ownerSecretRef?.name;
    const advice =
      source === undefined
        ? "to reset the owner, name a Secret in spec.access.ownerSecretRef"
        : `to reset the owner, create Secret ${source} again: it must be younger than the cluster`;
    return { reason: "OwnerSecretMissing", message: `Secret ${name} is missing: ${advice}` };
  }
  return isOwnerPending(reading)
    ? { reason: "OwnerResetPending", message: `the members do not have the content of Secret ${name} yet` }
    : null;
}

function minAvailableOf({ budget }: Reading): number | null {
  const number = budget?.spec?.minAvailable;
  return typeof number === "number" ? number : null;
}

/** As far back as known: if this operator has not seen the loss itself, the status shows it. */
function leaderlessSince(
  { status }: CoordinationCluster,
  { configuration }: Answers,
  memory: Memory,
  now: number,
): number | null {
  if (configuration !== null) {
    memory.leaderlessSince = null;
    return null;
  }
  const available = status?.conditions?.find(({ type }) => type === "Available");
  const told = available?.status === "False" ? timeOf(available.lastTransitionTime) : undefined;
  memory.leaderlessSince ??= Math.min(now, told ?? now);
  return memory.leaderlessSince;
}
