/**
 * What is known of each member of the cluster: its own report if it gives one, else the view of another member.
 *
 * Every known endpoint, and every endpoint that the cluster names, gets a status request. A caller without the access
 * `admin` in all namespaces gets the answer of the ClusterService.
 */

import {
  type Client,
  type Cluster,
  createAdminClient,
  createClient,
  createTokenSource,
  type MemberStatus,
  QuoinError,
  type StatusResult,
  type TlsOptions,
  type TokenSource,
} from "../../index.ts";
import type { Connection } from "../connection/index.ts";

/** A member in the report; undefined = not known. */
export interface ReportedMember {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string | undefined;
  /**
   * Its state by its own report, such as `RUNNING`. Otherwise: `UNDISCLOSED` if it answered but refused this caller,
   * `NOT_SERVING` if it answered that it serves nothing, `UNREACHABLE` if it did not answer, or `UNCLAIMED` for a slot
   * that no process has claimed.
   */
  readonly state: string;
  readonly role: string | undefined;
  readonly term: number | undefined;
  readonly appliedIndex: number | undefined;
  /** How many entries, of those that any member knows to be committed, it has not applied. */
  readonly lag: number | undefined;
  readonly dbSizeBytes: number | undefined;
  readonly version: string | undefined;
  readonly alarms: readonly string[];
  /**
   * How far its clock is ahead of that of this computer, in milliseconds, up to half the time that its answer took;
   * negative = behind.
   */
  readonly clockAheadMs: number | undefined;
}

/** The cluster as seen from here. */
export interface ClusterReport {
  /** Undefined = no member reported it. */
  readonly clusterId: string | undefined;
  readonly members: readonly ReportedMember[];
  /** By how much at least the clocks of two members differ, in milliseconds. */
  readonly clocksDifferMs: number;
}

/** The answer of an endpoint to a status request. */
interface Account {
  readonly endpoint: string;
  readonly answer: StatusResult | QuoinError;
  /** Undefined = not reported. */
  readonly clock: Clock | undefined;
}

/** A member in the report of another one. */
interface NamedMember {
  readonly id: string;
  readonly name: string;
  readonly grpcEndpoint: string;
  readonly role: string | undefined;
}

/**
 * Sends status requests to all members that can be found.
 *
 * @param timeoutMs deadline of each request; one round goes to the known endpoints, one to those that are named.
 * @throws QuoinError if no member answered anything.
 */
export async function reportMembers(connection: Connection, timeoutMs: number): Promise<ClusterReport> {
  const { endpoints, tls } = connection;
  const tokens = createTokenSource(connection);
  // Before the deadlines of the requests start: during the exchange of an API key, a hanging member takes time too.
  await tokens.token();
  const client = createClient({ endpoints, credentials: tokens, tls, timeoutMs });
  const askAll = (targets: readonly string[]) =>
    Promise.all(targets.map((endpoint) => queryMember(endpoint, tokens, tls, timeoutMs)));
  try {
    const [cluster, first] = await Promise.all([getCluster(client), askAll(endpoints)]);
    const named = namedMembers(cluster, first);
    const known = new Set([...endpoints, ""]);
    const further = new Set(named.map((member) => member.grpcEndpoint).filter((endpoint) => !known.has(endpoint)));
    return assemble(cluster, named, [...first, ...(await askAll([...further]))]);
  } finally {
    client.close();
  }
}

/** The answer of the ClusterService, which needs a leader: without one, members still report their own status. */
async function getCluster(client: Client): Promise<Cluster | QuoinError> {
  try {
    return await client.cluster.getCluster();
  } catch (error) {
    return QuoinError.from(error);
  }
}

async function queryMember(
  endpoint: string,
  tokens: TokenSource,
  tls: TlsOptions | undefined,
  timeoutMs: number,
): Promise<Account> {
  const admin = createAdminClient({ endpoint, credentials: tokens, tls, timeoutMs });
  const askedAtMs = Date.now();
  try {
    const answer = await admin.getStatus().catch((error: unknown) => QuoinError.from(error));
    const clock = answer instanceof QuoinError ? undefined : clockOf(answer.status, askedAtMs, Date.now());
    return { endpoint, answer, clock };
  } finally {
    admin.close();
  }
}

/** All named members. The ClusterService overrides the others, because its answer is fresh. */
function namedMembers(cluster: Cluster | QuoinError, accounts: readonly Account[]): readonly NamedMember[] {
  const named = new Map<string, NamedMember>();
  for (const { answer } of accounts) {
    for (const member of answer instanceof QuoinError ? [] : (answer.known?.members ?? [])) {
      named.set(member.id, { ...member, role: member.voter ? undefined : "LEARNER" });
    }
  }
  for (const member of cluster instanceof QuoinError ? [] : cluster.members) {
    const role = member.learner ? "LEARNER" : "FOLLOWER";
    named.set(member.id, { ...member, role: member.leader ? "LEADER" : role });
  }
  return [...named.values()];
}

function assemble(
  cluster: Cluster | QuoinError,
  named: readonly NamedMember[],
  accounts: readonly Account[],
): ClusterReport {
  const statuses = new Map<string, MemberStatus>();
  const clocks = new Map(accounts.map(({ endpoint, clock }) => [endpoint, clock]));
  const errors = new Map<string, QuoinError>();
  for (const { endpoint, answer } of accounts) {
    if (answer instanceof QuoinError) {
      errors.set(endpoint, answer);
    } else {
      statuses.set(endpoint, answer.status);
    }
  }
  if (statuses.size === 0 && cluster instanceof QuoinError) {
    throw cluster;
  }
  const commitIndex = Math.max(0, ...[...statuses.values()].map((status) => status.commitIndex));
  // By id, so that a member known under two endpoints is listed once.
  const members = new Map<string, ReportedMember>();
  for (const [endpoint, status] of statuses) {
    const key = status.id === "" ? endpoint : status.id;
    if (!members.has(key)) {
      members.set(key, fromStatus(endpoint, status, commitIndex, clocks.get(endpoint)));
    }
  }
  for (const member of named) {
    if (!members.has(member.id)) {
      members.set(member.id, fromOtherMembers(member, errors.get(member.grpcEndpoint)));
    }
  }
  const listed = new Set([...members.values()].map((member) => member.endpoint));
  for (const [endpoint, error] of errors) {
    if (!listed.has(endpoint) && (error.code === "UNAVAILABLE" || !hasAnswered(error))) {
      members.set(endpoint, fromOtherMembers({ id: "", name: "", grpcEndpoint: endpoint, role: undefined }, error));
    }
  }
  const clusterId =
    cluster instanceof QuoinError ? [...statuses.values()].find((status) => status.clusterId !== "") : cluster;
  return {
    clusterId: clusterId?.clusterId,
    members: [...members.values()].sort(byId),
    clocksDifferMs: certainDifferenceMs([...clocks.values()].filter((clock) => clock !== undefined)),
  };
}

/** How far a clock is ahead of that of this computer, in milliseconds: at least and at most. */
interface Clock {
  readonly min: number;
  readonly max: number;
}

/** The member has read its clock at some time between the request and its answer. */
function clockOf({ clockMs }: MemberStatus, askedAtMs: number, answeredAtMs: number): Clock | undefined {
  return clockMs === 0 ? undefined : { min: clockMs - answeredAtMs, max: clockMs - askedAtMs };
}

function certainDifferenceMs(clocks: readonly Clock[]): number {
  return Math.max(0, Math.max(...clocks.map(({ min }) => min)) - Math.min(...clocks.map(({ max }) => max)));
}

function fromStatus(
  endpoint: string,
  status: MemberStatus,
  commitIndex: number,
  clock: Clock | undefined,
): ReportedMember {
  return {
    id: status.id,
    name: status.name,
    endpoint,
    state: status.state,
    role: status.role === "MEMBER_ROLE_UNSPECIFIED" ? undefined : status.role,
    term: status.term,
    appliedIndex: status.appliedIndex,
    lag: commitIndex - status.appliedIndex,
    dbSizeBytes: status.dbSizeBytes,
    version: status.version,
    alarms: status.alarms,
    clockAheadMs: clock === undefined ? undefined : Math.round((clock.min + clock.max) / 2),
  };
}

function fromOtherMembers(member: NamedMember, error: QuoinError | undefined): ReportedMember {
  return {
    id: member.id,
    name: member.name,
    endpoint: member.grpcEndpoint === "" ? undefined : member.grpcEndpoint,
    state: stateWithoutStatus(member, error),
    role: member.role,
    term: undefined,
    appliedIndex: undefined,
    lag: undefined,
    dbSizeBytes: undefined,
    version: undefined,
    alarms: [],
    clockAheadMs: undefined,
  };
}

function stateWithoutStatus(member: NamedMember, error: QuoinError | undefined): string {
  if (member.grpcEndpoint === "") {
    return "UNCLAIMED";
  }
  if (error === undefined || !hasAnswered(error)) {
    return "UNREACHABLE";
  }
  return error.code === "UNAVAILABLE" ? "NOT_SERVING" : "UNDISCLOSED";
}

/** Whether the member is there although it reported no status: only members give reasons, such as TOKEN_INVALID. */
function hasAnswered(error: QuoinError): boolean {
  return error.reason !== "" || error.code === "PERMISSION_DENIED" || error.code === "UNIMPLEMENTED";
}

/** Ids are numbers in decimal; members without one come last. */
function byId(left: ReportedMember, right: ReportedMember): number {
  return (Number(left.id) || Number.POSITIVE_INFINITY) - (Number(right.id) || Number.POSITIVE_INFINITY) || 0;
}
