/**
 * The client of the ClusterAdminService: it asks how members are, founds a cluster, changes its membership and its leader.
 *
 * It talks to the public ports of several members with a token that has the access `admin` in all namespaces, or to one
 * member alone, on its admin port with an admin token. Every member takes every call; only getStatus is about the member
 * that answers, and bootstrap is served on admin ports only.
 */

import {
  AddMemberResponse,
  type ArchiveStatus as ArchiveStatusMessage,
  type BackupEntry as BackupEntryMessage,
  BackupPhase,
  type BackupRun as BackupRunMessage,
  BootstrapResponse,
  CompactResponse,
  enumName,
  GetBackupStatusResponse,
  GetStatusResponse,
  ListBackupsResponse,
  ListMembersResponse,
  MemberRole,
  type MemberSlot as MemberSlotMessage,
  MemberState,
  type MemberStatus as MemberStatusMessage,
  PromoteMembersResponse,
  PutSettingsResponse,
  RemoveMembersResponse,
  ResetOwnerResponse,
  StartBackupResponse,
  serviceDefinitions,
  TransferLeadershipResponse,
} from "@quoin/proto";
import { type ChannelOptions, openChannel } from "./channel.ts";
import { defaultTimeoutMs } from "./client.ts";
import { type Credentials, createTokenSource } from "./credentials.ts";
import { assertEndpoints } from "./endpoint.ts";
import { EndpointPool } from "./endpoint-pool.ts";
import { type CallOptions, execute, type OperationContext } from "./operation.ts";
import { type Plain, toPlain } from "./plain-message.ts";
import { QuoinError } from "./quoin-error.ts";
import { int64Field, textField } from "./request-field.ts";
import { type Runtime, systemRuntime } from "./runtime.ts";
import { openSnapshot, type SnapshotOptions, type SnapshotStream } from "./snapshot-stream.ts";
import { assertTls, type TlsOptions } from "./tls.ts";
import type { TokenSource } from "./token-source.ts";
import { unaryMethod } from "./unary-call.ts";

const service = serviceDefinitions.ClusterAdminService;
const getStatusMethod = unaryMethod(service.getStatus, GetStatusResponse);
const listMembersMethod = unaryMethod(service.listMembers, ListMembersResponse);
const bootstrapMethod = unaryMethod(service.bootstrap, BootstrapResponse);
const addMemberMethod = unaryMethod(service.addMember, AddMemberResponse);
const promoteMembersMethod = unaryMethod(service.promoteMembers, PromoteMembersResponse);
const removeMembersMethod = unaryMethod(service.removeMembers, RemoveMembersResponse);
const putSettingsMethod = unaryMethod(service.putSettings, PutSettingsResponse);
const resetOwnerMethod = unaryMethod(service.resetOwner, ResetOwnerResponse);
const compactMethod = unaryMethod(service.compact, CompactResponse);
const startBackupMethod = unaryMethod(service.startBackup, StartBackupResponse);
const getBackupStatusMethod = unaryMethod(service.getBackupStatus, GetBackupStatusResponse);
const listBackupsMethod = unaryMethod(service.listBackups, ListBackupsResponse);
const transferLeadershipMethod = unaryMethod(service.transferLeadership, TransferLeadershipResponse);

/** One member, by its admin or public gRPC endpoint, as `host:port`. The client stays with it, whoever leads. */
interface OneMember {
  readonly endpoint: string;
}

/**
 * Several members of one cluster, by their public gRPC endpoints as `host:port`, at least one. The first one is chosen at
 * random; when it is unavailable, the client goes on to the leader that it names, or to the next endpoint.
 */
interface AnyMember {
  readonly endpoints: readonly string[];
}

/** How to reach the administration of a cluster or of one member. */
export type AdminClientOptions = AdminClientSettings & (OneMember | AnyMember);

interface AdminClientSettings {
  /** An admin token (for the admin port), or what makes tokens for the public port. */
  readonly credentials: Credentials | TokenSource;
  /** How to speak TLS; `{}` = with the system's authorities. Undefined = not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Deadline of operations that set none, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  readonly channel?: ChannelOptions | undefined;
  readonly runtime?: Runtime | undefined;
}

/** How one member is, by its own account. */
export type MemberStatus = Omit<Plain<MemberStatusMessage>, "state" | "role"> & {
  /** What its process is doing, such as `RUNNING`; a number in decimal when this client is too old to know it. */
  state: string;
  /** Its part in Raft, such as `LEADER`; a number in decimal when this client is too old to know it. */
  role: string;
};

/** The membership. */
export type Membership = Plain<ListMembersResponse>;

/** A place in the membership: `incarnation` is empty while no process has claimed it. */
export type MemberSlot = Plain<MemberSlotMessage>;

/** Options of changes of the membership. */
export interface ChangeOptions extends CallOptions {
  /**
   * Log index of the membership that is to be changed, as listMembers answers it in `configIndex`: when there is a newer
   * one, the change fails with CONFIG_CHANGED. Default 0 = whatever it is.
   */
  readonly ifConfigIndex?: number | undefined;
}

/** Answer of addMember. */
export interface AddMemberResult {
  /** The new learner. */
  readonly member: MemberSlot;
  /** Log index of the membership as it is now. */
  readonly configIndex: number;
}

/** Answer of promoteMembers and removeMembers. */
export interface ChangeResult {
  /** Log index of the membership as it is now. */
  readonly configIndex: number;
}

/** Options of putSettings. */
export interface PutSettingsOptions extends CallOptions {
  /** The revision that the settings must still have, else FAILED_PRECONDITION / SETTINGS_CHANGED. Default 0 = any. */
  readonly ifSettingsRevision?: number | undefined;
}

/** Options of transferLeadership. */
export interface TransferOptions extends CallOptions {
  /** Id of the voter that is to lead. Default: the one whose log is closest to the leader's. */
  readonly targetId?: string | undefined;
  /** The term that it must still be, else FAILED_PRECONDITION. Default 0 = whatever it is. */
  readonly ifTerm?: number | undefined;
}

/** Answer of transferLeadership. */
export interface TransferResult {
  /** Id of the member that leads now. */
  readonly leaderId: string;
  /** Its term. */
  readonly term: number;
}

/** Answer of getStatus. */
export interface StatusResult {
  readonly status: MemberStatus;
  /** The membership that the member has applied, which may be old; undefined = none. */
  readonly known: Membership | undefined;
}

/** What to found. */
export interface BootstrapOptions extends CallOptions {
  /** Id of the new cluster: a UUID that the caller has recorded before, so that a repetition cannot found a second one. */
  readonly clusterId: string;
  /** Id of the data directory that may found it, as getStatus answers it. */
  readonly incarnation: string;
  /** The first owner: e-mail, password of 8 to 1,024 bytes, API key `qk_<8 characters>_<43 characters>`. */
  readonly owner: { readonly email: string; readonly password: string; readonly apiKey: string };
}

/** Which user is to be the owner. */
export interface ResetOwnerOptions extends CallOptions {
  /** Password of 8 to 1,024 bytes; API key `qk_<8 characters>_<43 characters>`, none if it is absent. */
  readonly owner: { readonly email: string; readonly password: string; readonly apiKey?: string | undefined };
}

/** What a member takes a backup from, and when. */
export interface StartBackupOptions extends CallOptions {
  /** The store that the member must have, as getBackupStatus answers it in `store`. Default: any. */
  readonly ifStore?: string | undefined;
  /** Whether the backup may begin while the member has no leader, and so may miss acknowledged writes. Default: no. */
  readonly allowLeaderless?: boolean | undefined;
}

/** A snapshot that a member takes or took into its store. */
export type BackupRun = Omit<Plain<BackupRunMessage>, "phase"> & {
  /** Such as `BACKUP_RUNNING`; a number in decimal when this client is too old to know it. */
  phase: string;
};

/** The continuous archive of a cluster, as a member knows it. */
export type ArchiveStatus = Plain<ArchiveStatusMessage>;

/** Answer of getBackupStatus. */
export interface BackupStatus {
  /** The store of the member; empty = it was started without one. */
  readonly store: string;
  /** Whether the member encrypts what it writes there. */
  readonly encrypted: boolean;
  /** The backup; undefined = there is no such one. */
  readonly run: BackupRun | undefined;
  /** Undefined = the member takes no part in an archive. */
  readonly archive: ArchiveStatus | undefined;
  /** When the member plans its next snapshot, in milliseconds since 1970; 0 = it plans none. */
  readonly nextSnapshotMs: number;
}

/** A snapshot in a store, and what can be restored from it. */
export type BackupEntry = Plain<BackupEntryMessage>;

/** Administers a cluster, or one member. */
export class AdminClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Tells how the member that answers is. Local to it; on its admin port it is answered in every state. A client of one
   * endpoint knows which member that is.
   */
  async getStatus(options: CallOptions = {}): Promise<StatusResult> {
    const { message } = await execute(this.#context, getStatusMethod, {}, options);
    if (message.status === undefined) throw new QuoinError({ code: "INTERNAL", message: "the answer has no status" });
    const status = toPlain(message.status);
    return {
      status: { ...status, state: enumName(MemberState, status.state), role: enumName(MemberRole, status.role) },
      known: message.known === undefined ? undefined : toPlain(message.known),
    };
  }

  /**
   * Lists the members as the leader knows them, with linearizable freshness.
   *
   * @throws QuoinError UNAVAILABLE when no leader can answer.
   */
  async listMembers(options: CallOptions = {}): Promise<Membership> {
    return toPlain((await execute(this.#context, listMembersMethod, {}, options)).message);
  }

  /**
   * Founds a cluster on this member, which must be empty and have the given incarnation. Repeating it is safe.
   *
   * @returns the id of the member in the new cluster.
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY; from a backup that is to be restored FAILED_PRECONDITION /
   * BACKUP_REFUSED, UNAVAILABLE / BACKUP_STORE_UNAVAILABLE.
   */
  async bootstrap(options: BootstrapOptions): Promise<Plain<BootstrapResponse>> {
    const request = {
      clusterId: textField("cluster_id", options.clusterId),
      incarnation: textField("incarnation", options.incarnation),
      owner: {
        email: textField("owner.email", options.owner.email),
        password: textField("owner.password", options.owner.password),
        apiKey: textField("owner.api_key", options.owner.apiKey),
      },
    };
    return toPlain((await execute(this.#context, bootstrapMethod, request, options)).message);
  }

  /**
   * Lets the owner log in again: the user with the address becomes an active owner with this password, and is made if there is
   * none. Its API keys stay. Served on admin ports only. Repeating it is safe.
   *
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD that names `owner.email`, `owner.password` or `owner.api_key`;
   *   RESOURCE_EXHAUSTED / QUOTA when the user has too many API keys; UNIMPLEMENTED / NOT_SERVED on a public port.
   */
  async resetOwner({ owner, ...options }: ResetOwnerOptions): Promise<Plain<ResetOwnerResponse>> {
    const request = {
      owner: {
        email: textField("owner.email", owner.email),
        password: textField("owner.password", owner.password),
        apiKey: textField("owner.api_key", owner.apiKey ?? ""),
      },
    };
    return toPlain((await execute(this.#context, resetOwnerMethod, request, options)).message);
  }

  /**
   * Adds a place for one more member, as a learner. The process that joins under this name claims it.
   *
   * @param name unique in the cluster; 1 to 63 characters as in a DNS name.
   * @throws QuoinError ALREADY_EXISTS / MEMBER_EXISTS; FAILED_PRECONDITION / CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.
   */
  async addMember(name: string, options: ChangeOptions = {}): Promise<AddMemberResult> {
    const request = { name: textField("name", name), ifConfigIndex: ifConfigIndexField(options) };
    const { member, configIndex } = toPlain((await execute(this.#context, addMemberMethod, request, options)).message);
    if (member === undefined) throw new QuoinError({ code: "INTERNAL", message: "the answer has no member" });
    return { member, configIndex };
  }

  /**
   * Gives learners a vote, several in one step. Who votes already stays a voter.
   *
   * @param ids of the members, at least one.
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION / LEARNER_NOT_READY when one has not caught up,
   *   QUORUM_UNSAFE when too few of the voters would be in contact, CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.
   */
  async promoteMembers(ids: readonly string[], options: ChangeOptions = {}): Promise<ChangeResult> {
    const request = { ids: idsField(ids), ifConfigIndex: ifConfigIndexField(options) };
    return toPlain((await execute(this.#context, promoteMembersMethod, request, options)).message);
  }

  /**
   * Removes members, several in one step. A removed member never comes back; a new one may have its name.
   *
   * @param ids of the members, at least one.
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION / IS_LEADER, LAST_VOTER, QUORUM_UNSAFE when too
   *   few of the others are in contact, CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.
   */
  async removeMembers(ids: readonly string[], options: ChangeOptions = {}): Promise<ChangeResult> {
    const request = { ids: idsField(ids), ifConfigIndex: ifConfigIndexField(options) };
    return toPlain((await execute(this.#context, removeMembersMethod, request, options)).message);
  }

  /**
   * Hands leadership to another voter, and answers when it leads. To the member that leads already it is done at once.
   *
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION when the target cannot lead or the term has moved
   *   on; UNAVAILABLE when the target did not take over in time.
   */
  async transferLeadership(options: TransferOptions = {}): Promise<TransferResult> {
    const { targetId = "", ifTerm = 0 } = options;
    const request = { targetId: textField("target_id", targetId), ifTerm: int64Field("if_term", ifTerm) };
    return toPlain((await execute(this.#context, transferLeadershipMethod, request, options)).message);
  }

  /**
   * Gives up the history of changes below a revision: watches cannot begin there any more. One that is not reached yet
   * counts as the newest.
   *
   * @returns the oldest revision at which a watch can begin from now on.
   */
  async compact(revision: number, options: CallOptions = {}): Promise<number> {
    const request = { revision: int64Field("revision", revision) };
    return Number((await execute(this.#context, compactMethod, request, options)).message.compactRevision);
  }

  /**
   * Changes settings of the cluster, all of those that are given or none; the others stay.
   *
   * @param values by name, such as `token.lifetime_secs`; null takes a setting back to its default.
   * @returns the revision of the settings as they are now; getStatus tells it too, as `settingsRevision`.
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a name that is unknown or a value out of bounds; FAILED_PRECONDITION /
   *   SETTINGS_CHANGED.
   */
  async putSettings(
    values: ReadonlyMap<string, number | null>,
    { ifSettingsRevision = 0, ...options }: PutSettingsOptions = {},
  ): Promise<number> {
    const entries = [...values].map(([name, value]): [string, string] => [
      textField("values", name),
      value === null ? "" : String(int64Field(`values[${name}]`, value)),
    ]);
    const request = {
      values: new Map(entries),
      ifSettingsRevision: int64Field("if_settings_revision", ifSettingsRevision),
    };
    return Number((await execute(this.#context, putSettingsMethod, request, options)).message.settingsRevision);
  }

  /**
   * Begins a backup into the store of the member that answers. Served on admin ports only.
   *
   * @returns its id, for getBackupStatus of the same member.
   * @throws QuoinError FAILED_PRECONDITION / NO_BACKUP_STORE, OTHER_BACKUP_STORE, BACKUP_IN_PROGRESS; UNAVAILABLE / NO_LEADER.
   */
  async startBackup({ ifStore = "", allowLeaderless = false, ...options }: StartBackupOptions = {}): Promise<string> {
    const request = { ifStore: textField("if_store", ifStore), allowLeaderless };
    return (await execute(this.#context, startBackupMethod, request, options)).message.id;
  }

  /**
   * Tells about a backup of the member that answers, and about the archive as it knows it. Served on admin ports only.
   *
   * @param id of the backup; the running or the last one if it is absent.
   */
  async getBackupStatus(id = "", options: CallOptions = {}): Promise<BackupStatus> {
    const request = { id: textField("id", id) };
    const { run, ...status } = toPlain((await execute(this.#context, getBackupStatusMethod, request, options)).message);
    return { ...status, run: run === undefined ? undefined : { ...run, phase: enumName(BackupPhase, run.phase) } };
  }

  /**
   * Lists what the store of the member holds, oldest first. Served on admin ports only.
   *
   * @param clusterId whose backups; those of the member's cluster if it is absent.
   * @throws QuoinError FAILED_PRECONDITION / NO_BACKUP_STORE; UNAVAILABLE / BACKUP_STORE_UNAVAILABLE.
   */
  async listBackups(clusterId = "", options: CallOptions = {}): Promise<Plain<ListBackupsResponse>> {
    const request = { clusterId: textField("cluster_id", clusterId) };
    return toPlain((await execute(this.#context, listBackupsMethod, request, options)).message);
  }

  /**
   * Streams the state of the member that answers, with every write that was acknowledged before. A member without a leader
   * streams what it has applied, and says so. Served on admin ports only. It is one attempt.
   *
   * @throws QuoinError FAILED_PRECONDITION / BACKUP_IN_PROGRESS; UNAVAILABLE when the member serves no data or does not begin
   *   in time; UNIMPLEMENTED / NOT_SERVED on a public port.
   */
  async snapshot(options: SnapshotOptions = {}): Promise<SnapshotStream> {
    return openSnapshot(this.#context, options);
  }

  /** Closes the connections. */
  close(): void {
    this.#context.pool.close();
  }
}

function idsField(ids: readonly string[]): string[] {
  return ids.map((id) => textField("ids", id));
}

function ifConfigIndexField({ ifConfigIndex = 0 }: ChangeOptions): bigint {
  return int64Field("if_config_index", ifConfigIndex);
}

/**
 * Makes the client of the administration of a cluster or of one member.
 *
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for options that cannot be used.
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const { credentials, tls, channel = {}, timeoutMs = defaultTimeoutMs, runtime = systemRuntime } = options;
  const endpoints = "endpoints" in options ? options.endpoints : [options.endpoint];
  // Whoever names one member wants that one: another could not tell how it is, or has another port for administration.
  const followLeader = "endpoints" in options;
  assertEndpoints(followLeader ? "endpoints" : "endpoint", endpoints);
  assertTls(tls);
  const tokens = "refresh" in credentials ? credentials : createTokenSource(credentials, tls, runtime);
  const start = Math.floor(runtime.random() * endpoints.length);
  const pool = new EndpointPool(endpoints, start, (endpoint) => openChannel(endpoint, tls, channel));
  return new AdminClient({ pool, tokens, runtime, timeoutMs, followLeader });
}
