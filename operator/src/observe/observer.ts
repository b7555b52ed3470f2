/**
 * One observation of a cluster: the API server's objects, the members' answers, and the objects that differ from what
 * is wanted. It writes nothing, except a dry run of the wanted set.
 */
import type { CertificateOutcome, CertificateWrite, TendCertificates } from "../certificates/index.ts";
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
import { type CoordinationCluster, type Identity, type Observed, parseQuantity, type Refusal } from "../plan/index.ts";
import { type Manifest, metadataOf, namesOf, namespaceOf, renderBudget, type Settings } from "../render/index.ts";
import type { Problem, Surroundings } from "../status/index.ts";
import { acceptedSpecWish, withAcceptedSpec } from "./accepted-spec.ts";
import { adoptionWish, encryptionRefusal } from "./adoption.ts";
import { APPLIED, OWNER_PENDING } from "./annotations.ts";
import { lookAtBackups } from "./backup-look.ts";
import { type Claim, claimViewOf } from "./claim-view.ts";
import { covers, digestOf } from "./difference.ts";
import type { Memory, Trial } from "./memory.ts";
import { findObstacles } from "./obstacles.ts";
import { podViewOf, timeOf } from "./pod-view.ts";
import { ownerSecretName, type Reading, readCluster, readExpandable } from "./reader.ts";
import { lookAtRecovery } from "./recovery-view.ts";
import { type Answers, addressesOf, askMembers, type EndpointOf } from "./reports.ts";
import { isContested, restorationOf, undoneBy } from "./restoration.ts";
import { hasRestoreFlag } from "./restore-source.ts";
import { sentinelWish } from "./sentinel.ts";
import { type StatefulSet, setViewOf } from "./set-view.ts";
import { storageClassRefusal } from "./storage-class.ts";
import { conflictOf, lookAround } from "./support.ts";
import {
  isSetAsWished,
  ownerWish,
  type SetManifest,
  secretOf,
  tokensWish,
  type WantedObjects,
  wantedObjects,
  withoutPlacement,
} from "./wanted-objects.ts";
import {
  durableMetadata,
  isAsWished,
  ownership,
  preconditionOf,
  signed,
  type Wish,
  type Wishes,
  wishKey,
} from "./wish.ts";

/** After this long, a refused template is tried again. */
const TRIAL_MS = 60_000;

export interface ObserverOptions {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly settings: Settings;
  readonly tendCertificates: TendCertificates;
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
  readonly wishes: Wishes;
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
    const { cluster, reading, wanted, rejection, setWish } = await this.#readSpec(asked, memory, reads);
    const addresses = addressesOf(cluster, reading, endpointOf);
    const answers = await askMembers(members, addresses, reading.pods, onSilent);
    const around = await lookAround({ client, reads, cluster, manifests: wanted.around, memory, now });
    const backup = await lookAtBackups({
      ...{ members, cluster, reading, addresses, reports: answers.reports, memory, now, onSilent },
    });
    const certificates = await this.#tend(cluster, reading, answers, now);
    const views = await this.#views(cluster, reading, memory, reads);
    const obstacles = await findObstacles({ client, cluster, reading, memory, now, onUnknown });
    const recovery = await lookAtRecovery(client, cluster, reading);
    const refusal =
      setConflict(cluster, reading) ??
      encryptionRefusal(cluster, reading) ??
      rejection ??
      ofRunningCluster(around.refusal, reading);
    const hasForm = answers.known !== null || views.claims.some(({ memberId }) => typeof memberId === "number");
    const wishes = new Map([
      ...keyed(adoptionWishes(cluster, reading)),
      ...keyed(certificates.writes.map((write) => certificateWish(cluster, write))),
      ...keyed(await this.#secretWishes(cluster, reading, hasForm, reads)),
      ...around.wishes,
      ...keyed([setWish, await this.#budgetWish(cluster, reading, memory)]),
      ...keyed(ownershipWishes(cluster, reading, views)),
      ...keyed([refusal === null ? acceptedSpecWish(cluster, reading) : null]),
    ]);
    for (const [key, wish] of wishes) {
      if ("undoes" in wish && wish.undoes !== null && isContested(memory, key, now)) {
        wishes.delete(key);
      }
    }
    const observed: Observed = {
      now,
      cluster,
      refusal,
      ...views,
      set: views.set && { ...views.set, isOverwritten: (setWish?.undoes ?? null) !== null },
      obstacles,
      reports: answers.reports,
      configuration: answers.configuration,
      known: answers.known,
      leaderlessSince: leaderlessSince(cluster, answers, memory, now),
      minAvailable: minAvailableOf(reading),
      drift: [...wishes.values()].map(({ reference: { kind, name } }) => ({ kind, name })),
      ownerPending: isOwnerPending(reading),
      recovery,
      restore: reading.restore && { problem: reading.restore.problem, isInForce: hasRestoreFlag(reading.set) },
      attempts: memory.attempts,
    };
    return {
      observed,
      surroundings: {
        tlsProblem: certificates.problem,
        monitoringProblem: around.monitoringProblem,
        ownerProblem: hasForm ? ownerProblemOf(cluster, reading) : null,
        tls: certificates.tls,
        backup,
      },
      ...{ reading, wishes, addresses },
      set: wanted.set,
      askable: answers.askable,
      renewed: certificates.renewed,
    };
  }

  /** The specification to follow: the present one or, while that is refused, the last accepted one. */
  async #readSpec(asked: CoordinationCluster, memory: Memory, reads: Reads): Promise<SpecReading> {
    const { settings } = this.#options;
    const reading = await readCluster(reads, asked);
    const wanted = wantedObjects(asked, reading, settings);
    const verdict = await this.#judge(asked, reading, wanted.set, memory, "asked");
    const rejection = wanted.refusal ?? verdict.refusal ?? storageClassRefusal(asked, reading);
    const accepted = rejection === null ? null : withAcceptedSpec(asked, reading);
    if (rejection === null || accepted === null) {
      return { cluster: asked, reading, wanted, rejection, setWish: verdict.wish };
    }
    const { cluster, generation } = accepted;
    const message = `generation ${generation} stays in force: ${rejection.message}`;
    // The specification determines which Secrets to read.
    const readAgain = await readCluster(reads, cluster);
    const wantedAgain = wantedObjects(cluster, readAgain, settings);
    const { wish } = await this.#judge(cluster, readAgain, wantedAgain.set, memory, "accepted");
    return {
      cluster,
      reading: readAgain,
      wanted: wantedAgain,
      rejection: { ...rejection, message, tended: true },
      setWish: wish,
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

  #tend(cluster: CoordinationCluster, reading: Reading, answers: Answers, now: number): Promise<CertificateOutcome> {
    const { authority, server, trust } = reading;
    const { clusterDomain } = this.#options.settings;
    const stored = { authority, server, trust } as Pick<
      Parameters<TendCertificates>[0],
      "authority" | "server" | "trust"
    >;
    return this.#options.tendCertificates({ now, cluster, clusterDomain, reports: answers.reports, ...stored });
  }

  async #secretWishes(
    cluster: CoordinationCluster,
    reading: Reading,
    hasForm: boolean,
    reads: Reads,
  ): Promise<(Wish | null)[]> {
    const foundedAt = hasForm ? (reading.identity?.metadata?.creationTimestamp ?? "") : null;
    return [
      reading.tokens === null ? tokensWish(cluster) : null,
      reading.owner === null ? await ownerWish(reads, cluster, foundedAt) : null,
      await sentinelWish(reads, cluster, reading),
    ];
  }

  /**
   * Whether the set matches what is wanted, and whether the API server would admit it. Only the API server knows,
   * because it adds defaults and normalizes quantities. A dry run asks it once for each pair of wanted and existing
   * set.
   */
  async #judge(
    cluster: CoordinationCluster,
    { set: live }: Reading,
    set: SetManifest | null,
    memory: Memory,
    which: "asked" | "accepted",
  ): Promise<Verdict> {
    const { now } = this;
    if (set === null || conflictOf(cluster, setReference(cluster), live) !== null) {
      return { refusal: null, wish: null };
    }
    const key = digestOf([set.metadata?.annotations?.[APPLIED], live && withoutPlacement(live.spec ?? {})]);
    const before = memory.trials.get(which);
    const isFresh = before?.key === key && now - before.at < before.validMs;
    const trial = isFresh ? before : { key, at: now, ...(await this.#dryRun(cluster, live, set)) };
    memory.trials.set(which, trial);
    const isAsWished = trial.isSame && covers(live?.metadata, set.metadata);
    return {
      refusal: trial.refusal,
      wish:
        live === null || isAsWished || trial.refusal !== null
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
  ): Promise<Omit<Trial, "key" | "at">> {
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
      const validMs = isJudged ? TRIAL_MS : 0;
      // The set itself does not change, so a refusal of this write is not a refusal of the specification.
      if (live !== null && isSetAsWished(live, set)) {
        return { refusal: null, isSame: true, validMs };
      }
      // For example, a webhook does not answer. This stops new templates, and nothing else.
      const reason = isJudged ? "OverlayRejected" : "TemplateNotTried";
      return { refusal: { reason, message: error.explanation, tended: false }, isSame: false, validMs };
    }
  }

  async #budgetWish(cluster: CoordinationCluster, { budget }: Reading, memory: Memory): Promise<Wish | null> {
    const number = budget?.spec?.minAvailable;
    if (budget === null || typeof number !== "number") {
      return null;
    }
    const reference = { ...setReference(cluster), kind: "PodDisruptionBudget" } as const;
    const manifest = signed(renderBudget(cluster, number));
    return isAsWished(budget, manifest)
      ? await restorationOf(this.#options.client, memory, reference, budget, manifest)
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
  readonly wanted: WantedObjects;
  /** Why the operator does not follow the present specification. */
  readonly rejection: Refusal | null;
  readonly setWish: SetWish | null;
}

type SetWish = Wish & { how: "replace" };

interface Verdict {
  readonly refusal: Refusal | null;
  readonly wish: SetWish | null;
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

function keyed(wishes: readonly (Wish | null)[]): [string, Wish][] {
  return wishes.flatMap((wish) => (wish === null ? [] : [[wishKey(wish.reference), wish]]));
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
  return { reason: "NameConflict", message, tended: false };
}

/**
 * A foreign object with the name of an owned one blocks the founding of a cluster. Later it blocks only its own write.
 */
function ofRunningCluster(refusal: Refusal | null, { set }: Reading): Refusal | null {
  return refusal === null ? null : { ...refusal, tended: set !== null };
}

function withVersion(manifest: Manifest, resourceVersion: string): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, resourceVersion } };
}

function ownershipWishes(cluster: CoordinationCluster, reading: Reading, views: Views): (Wish | null)[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const wish = (kind: Kind, name: string, live: Parameters<typeof ownership>[2]): Wish | null =>
    ownership(cluster, { kind, namespace, name }, live);
  return [
    wish("ConfigMap", names.identity, reading.identity),
    wish("Secret", ownerSecretName(cluster), reading.owner),
    wish("Secret", names.authorities, reading.authority),
    ...views.claims
      .filter(({ ours }) => ours)
      .map(({ ordinal }) =>
        wish("PersistentVolumeClaim", `data-${names.set}-${ordinal}`, reading.claims.get(ordinal) ?? null),
      ),
  ];
}

/** Of objects that are written only when their content changes. */
function adoptionWishes(cluster: CoordinationCluster, { tokens, trust, server }: Reading): (Wish | null)[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const wish = (kind: Kind, name: string, live: Parameters<typeof adoptionWish>[2]): Wish | null =>
    adoptionWish(cluster, { kind, namespace, name }, live);
  return [
    wish("Secret", names.tokens, tokens),
    wish("ConfigMap", names.authorities, trust),
    // In the other modes, others create it.
    cluster.spec.tls.mode === "Auto" ? wish("Secret", names.serverTls, server) : null,
  ];
}

function certificateWish(cluster: CoordinationCluster, write: CertificateWrite): Wish {
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

/** Of a cluster that is already founded. */
function ownerProblemOf(cluster: CoordinationCluster, reading: Reading): Problem | null {
  const name = ownerSecretName(cluster);
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
