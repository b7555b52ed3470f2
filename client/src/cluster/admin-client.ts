/**
 * The client of the ClusterAdminService: it reads the status of members, founds a cluster, and changes its membership
 * and its leader.
 *
 * It connects either to the public ports of several members with a token of access `admin` in all namespaces, or to one
 * member alone, on its admin port with an admin token. Every member serves every call; only getStatus is about the
 * answering member itself, and bootstrap is served only on admin ports.
 */

import {
  type ArchiveStatus as ArchiveStatusMessage,
  type BackupEntry as BackupEntryMessage,
  BackupPhase,
  type BackupRun as BackupRunMessage,
  type BootstrapResponse,
  enumName,
  type GetSettingsResponse,
  type ListBackupsResponse,
  type ListMembersResponse,
  MemberRole,
  type MemberSlot as MemberSlotMessage,
  MemberState,
  type MemberStatus as MemberStatusMessage,
  type ResetOwnerResponse,
  serviceDefinitions,
} from "@quoin/proto";
import { type Credentials, openContext } from "../accounts/index.ts";
import { type CallOptions, execute, type OperationContext, type Plain, toPlain, unaryMethod } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import {
  callRules,
  callRulesWithoutRequestId,
  flag,
  int32Field,
  int64Field,
  listOf,
  optionsCheck,
  record,
  text,
  textField,
  timeout,
  whole,
  whole32,
} from "../options/index.ts";
import {
  assertEndpoints,
  type ChannelOptions,
  clientRules,
  type Runtime,
  type TlsOptions,
  type TokenSource,
} from "../transport/index.ts";
import {
  type MemberCountersOptions,
  type MemberCountersResult,
  type MemberStatus,
  memberCounters,
} from "./member-counters.ts";
import { openSnapshot, type SnapshotOptions, type SnapshotStream } from "./snapshot-stream.ts";

const service = serviceDefinitions.ClusterAdminService;
const getStatusMethod = unaryMethod(service.getStatus);
const getMemberCountersMethod = unaryMethod(service.getMemberCounters);
const getSettingsMethod = unaryMethod(service.getSettings);
const listMembersMethod = unaryMethod(service.listMembers);
const bootstrapMethod = unaryMethod(service.bootstrap);
const addMemberMethod = unaryMethod(service.addMember);
const promoteMembersMethod = unaryMethod(service.promoteMembers);
const removeMembersMethod = unaryMethod(service.removeMembers);
const putSettingsMethod = unaryMethod(service.putSettings);
const resetOwnerMethod = unaryMethod(service.resetOwner);
const compactMethod = unaryMethod(service.compact);
const startBackupMethod = unaryMethod(service.startBackup);
const getBackupStatusMethod = unaryMethod(service.getBackupStatus);
const listBackupsMethod = unaryMethod(service.listBackups);
const transferLeadershipMethod = unaryMethod(service.transferLeadership);

/**
 * One member, by its admin or public gRPC endpoint, as `host:port`. The client stays with it, whichever member leads.
 */
interface OneMember {
  readonly endpoint: string;
}

/**
 * Several members of one cluster, by their public gRPC endpoints as `host:port`, at least one. The client starts with a
 * random one. If a member is unavailable, it continues with the leader that the member names, or with the next
 * endpoint.
 */
interface AnyMember {
  readonly endpoints: readonly string[];
}

/** How to reach the administration of a cluster or of one member. */
export type AdminClientOptions = AdminClientSettings & (OneMember | AnyMember);

interface AdminClientSettings {
  /** An admin token (for the admin port), or a source of tokens for the public port. */
  readonly credentials: Credentials | TokenSource;
  /** TLS options; `{}` = with the system's certificate authorities. Undefined = not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Deadline of operations without their own, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  readonly channel?: ChannelOptions | undefined;
  readonly runtime?: Runtime | undefined;
}

/** The settings of the cluster. A `value` is empty if it is not set; then `defaultValue` applies. */
export type Settings = Plain<GetSettingsResponse>;

/** The membership. */
export type Membership = Plain<ListMembersResponse>;

/** A slot in the membership: `incarnation` is empty while no process has claimed it. */
export type MemberSlot = Plain<MemberSlotMessage>;

/** Options of membership changes. */
export interface ChangeOptions extends CallOptions {
  /**
   * Log index of the membership to change, as in `configIndex` of listMembers: if there is a newer membership, the
   * change fails with CONFIG_CHANGED. Default 0 = any.
   */
  readonly ifConfigIndex?: number | undefined;
}

/** Answer of addMember. */
export interface AddMemberResult {
  /** The new learner. */
  readonly member: MemberSlot;
  /** Log index of the new membership. */
  readonly configIndex: number;
}

/** Answer of promoteMembers and removeMembers. */
export interface ChangeResult {
  /** Log index of the new membership. */
  readonly configIndex: number;
}

/** Options of putSettings. */
export interface PutSettingsOptions extends CallOptions {
  /** The revision that the settings must still have, else FAILED_PRECONDITION / SETTINGS_CHANGED. Default 0 = any. */
  readonly ifSettingsRevision?: number | undefined;
}

/** Options of transferLeadership. */
export interface TransferOptions extends CallOptions {
  /** Id of the voter that becomes the leader. Default: the voter whose log is closest to the leader's. */
  readonly targetId?: string | undefined;
  /** The term that must still be current, else FAILED_PRECONDITION. Default 0 = any. */
  readonly ifTerm?: number | undefined;
}

/** Answer of transferLeadership. */
export interface TransferResult {
  /** Id of the new leader. */
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

/** The parameters of a founding. */
export interface BootstrapOptions extends CallOptions {
  /**
   * Id of the new cluster: a UUID that the caller has recorded before, so that a retry cannot found a second cluster.
   */
  readonly clusterId: string;
  /** Id of the data directory that may found it, as returned by getStatus. */
  readonly incarnation: string;
  /** The first owner: e-mail, password of 8 to 1,024 bytes, API key `qk_<8 characters>_<43 characters>`. */
  readonly owner: { readonly email: string; readonly password: string; readonly apiKey: string };
}

/** The user to make the owner. */
export interface ResetOwnerOptions extends CallOptions {
  /** Password of 8 to 1,024 bytes; API key `qk_<8 characters>_<43 characters>`, optional. */
  readonly owner: { readonly email: string; readonly password: string; readonly apiKey?: string | undefined };
}

/** Conditions for starting a backup. */
export interface StartBackupOptions extends CallOptions {
  /** The store that the member must have, as in `store` of getBackupStatus. Default: any. */
  readonly ifStore?: string | undefined;
  /** Whether the backup may start while the member has no leader, and so may miss acknowledged writes. Default: no. */
  readonly allowLeaderless?: boolean | undefined;
}

/** A snapshot that a member writes or wrote to its store. */
export type BackupRun = Omit<Plain<BackupRunMessage>, "phase"> & {
  /** Such as `BACKUP_RUNNING`; a decimal number if this client is too old to know it. */
  phase: string;
};

/** The continuous archive of a cluster, as a member knows it. */
export type ArchiveStatus = Plain<ArchiveStatusMessage>;

/** Whose backups getBackupStatus reports. */
export interface BackupStatusOptions extends CallOptions {
  /** Id of the member. Default: the answering member. */
  readonly memberId?: string | undefined;
}

/** Answer of getBackupStatus. */
export interface BackupStatus {
  /** The store of the member; empty = it was started without one. */
  readonly store: string;
  /** Whether the member encrypts its backups. */
  readonly encrypted: boolean;
  /** The backup; undefined = there is none with this id. */
  readonly run: BackupRun | undefined;
  /** Undefined = the member takes no part in an archive. */
  readonly archive: ArchiveStatus | undefined;
  /** When the member plans its next snapshot, in milliseconds since 1970; 0 = none planned. */
  readonly nextSnapshotMs: number;
  /** When the member last read its backups back without damage, in milliseconds since 1970; 0 = not since its start. */
  readonly verifiedMs: number;
  /** When the member last found damage in its backups, in milliseconds since 1970; 0 = not since its start. */
  readonly damageFoundMs: number;
  /** Names of the objects that the last verification found damaged, at most 100. */
  readonly damagedObjects: readonly string[];
}

/** A snapshot in a store, and the points that it can restore. */
export type BackupEntry = Plain<BackupEntryMessage>;

const checkOptions = optionsCheck<AdminClientSettings & Partial<OneMember & AnyMember>>({
  ...clientRules,
  endpoint: text,
  endpoints: listOf(text),
});
const changeRules = { ...callRules, ifConfigIndex: whole };
const checkCall = optionsCheck<CallOptions>(callRules);
const checkMemberCounters = optionsCheck<MemberCountersOptions>({
  ...callRules,
  ids: listOf(text),
  windowSeconds: whole32,
});
const checkBootstrap = optionsCheck<BootstrapOptions>(
  {
    ...callRules,
    clusterId: text,
    incarnation: text,
    owner: record<BootstrapOptions["owner"]>({ email: text, password: text, apiKey: text }, []),
  },
  ["clusterId", "incarnation", "owner"],
);
const checkResetOwner = optionsCheck<ResetOwnerOptions>(
  {
    ...callRules,
    owner: record<ResetOwnerOptions["owner"]>({ email: text, password: text, apiKey: text }, []),
  },
  ["owner"],
);
const checkChange = optionsCheck<ChangeOptions>(changeRules);
const checkTransfer = optionsCheck<TransferOptions>({
  ...callRules,
  targetId: text,
  ifTerm: whole,
});
const checkPutSettings = optionsCheck<PutSettingsOptions>({ ...callRules, ifSettingsRevision: whole });
const checkStartBackup = optionsCheck<StartBackupOptions>({
  ...callRules,
  ifStore: text,
  allowLeaderless: flag,
});
const checkBackupStatus = optionsCheck<BackupStatusOptions>({ ...callRules, memberId: text });
const checkSnapshot = optionsCheck<SnapshotOptions>({ ...callRulesWithoutRequestId, silenceMs: timeout });

/** Administers a cluster, or one member. */
export class AdminClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Returns the status of the answering member. The answer is local to it; its admin port answers in every state. A
   * client with one endpoint knows which member that is.
   */
  async getStatus(options: CallOptions = {}): Promise<StatusResult> {
    checkCall(options, "getStatus");
    const { message } = await execute(this.#context, getStatusMethod, {}, options);
    if (message.status === undefined) {
      throw new QuoinError({ code: "INTERNAL", message: "the answer has no status" });
    }
    return {
      status: memberStatus(message.status),
      known: message.known === undefined ? undefined : toPlain(message.known),
    };
  }

  /**
   * Returns the state of members and their counters of the last minutes. The answering member asks the others; a member
   * that does not answer has a `problem`.
   *
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND.
   */
  async memberCounters(options: MemberCountersOptions = {}): Promise<MemberCountersResult> {
    checkMemberCounters(options, "memberCounters");
    const { ids = [], windowSeconds = 0 } = options;
    const request = { ids: [...ids], windowSeconds: int32Field("windowSeconds", windowSeconds) };
    const { message } = await execute(this.#context, getMemberCountersMethod, request, options);
    const { members, answeredBy } = message;
    return { members: members.map((member) => memberCounters(member, memberStatus)), answeredBy };
  }

  /** Reads the replicated settings: set values, defaults and bounds. */
  async settings(options: CallOptions = {}): Promise<Settings> {
    checkCall(options, "settings");
    return toPlain((await execute(this.#context, getSettingsMethod, {}, options)).message);
  }

  /**
   * Lists the members as known to the leader, with linearizable freshness.
   *
   * @throws QuoinError UNAVAILABLE if no leader can answer.
   */
  async listMembers(options: CallOptions = {}): Promise<Membership> {
    checkCall(options, "listMembers");
    return toPlain((await execute(this.#context, listMembersMethod, {}, options)).message);
  }

  /**
   * Founds a cluster on this member, which must be empty and have the given incarnation. Repeating it is safe.
   *
   * @returns the id of the member in the new cluster.
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY; when it restores a backup: FAILED_PRECONDITION /
   * BACKUP_REFUSED, UNAVAILABLE / BACKUP_STORE_UNAVAILABLE.
   */
  async bootstrap(options: BootstrapOptions): Promise<Plain<BootstrapResponse>> {
    checkBootstrap(options, "bootstrap");
    const request = {
      clusterId: textField("clusterId", options.clusterId),
      incarnation: textField("incarnation", options.incarnation),
      owner: {
        email: textField("owner.email", options.owner.email),
        password: textField("owner.password", options.owner.password),
        apiKey: textField("owner.apiKey", options.owner.apiKey),
      },
    };
    return toPlain((await execute(this.#context, bootstrapMethod, request, options)).message);
  }

  /**
   * Lets the owner log in again: makes the user with the address an active owner with this password, and creates the
   * user if there is none. Its API keys stay. Served only on admin ports. Repeating it is safe.
   *
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD that names `owner.email`, `owner.password` or `owner.api_key`;
   * RESOURCE_EXHAUSTED / QUOTA if the user has too many API keys; UNIMPLEMENTED / NOT_SERVED on a public port.
   */
  async resetOwner(options: ResetOwnerOptions): Promise<Plain<ResetOwnerResponse>> {
    checkResetOwner(options, "resetOwner");
    const { owner } = options;
    const request = {
      owner: {
        email: textField("owner.email", owner.email),
        password: textField("owner.password", owner.password),
        apiKey: textField("owner.apiKey", owner.apiKey ?? ""),
      },
    };
    return toPlain((await execute(this.#context, resetOwnerMethod, request, options)).message);
  }

  /**
   * Adds a slot for one more member, as a learner. The process that joins under this name claims it.
   *
   * @param name unique in the cluster; 1 to 63 characters as in a DNS name.
   * @throws QuoinError ALREADY_EXISTS / MEMBER_EXISTS; FAILED_PRECONDITION / CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.
   */
  async addMember(name: string, options: ChangeOptions = {}): Promise<AddMemberResult> {
    checkChange(options, "addMember");
    const request = { name: textField("name", name), ifConfigIndex: ifConfigIndexField(options) };
    const { member, configIndex } = toPlain((await execute(this.#context, addMemberMethod, request, options)).message);
    if (member === undefined) {
      throw new QuoinError({ code: "INTERNAL", message: "the answer has no member" });
    }
    return { member, configIndex };
  }

  /**
   * Gives learners a vote, several in one step. A voter among them stays a voter.
   *
   * @param ids of the members, at least one.
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION / LEARNER_NOT_READY if one has not caught up,
   * QUORUM_UNSAFE if too few of the voters would be in contact, CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.
   */
  async promoteMembers(ids: readonly string[], options: ChangeOptions = {}): Promise<ChangeResult> {
    checkChange(options, "promoteMembers");
    const request = { ids: idsField(ids), ifConfigIndex: ifConfigIndexField(options) };
    return toPlain((await execute(this.#context, promoteMembersMethod, request, options)).message);
  }

  /**
   * Removes members, several in one step. A removed member never comes back; a new one may have its name.
   *
   * @param ids of the members, at least one.
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION / IS_LEADER, LAST_VOTER, QUORUM_UNSAFE if too
   * few of the others are in contact, CONFIG_CHANGED, CONFIG_CHANGE_IN_PROGRESS.
   */
  async removeMembers(ids: readonly string[], options: ChangeOptions = {}): Promise<ChangeResult> {
    checkChange(options, "removeMembers");
    const request = { ids: idsField(ids), ifConfigIndex: ifConfigIndexField(options) };
    return toPlain((await execute(this.#context, removeMembersMethod, request, options)).message);
  }

  /**
   * Transfers the leadership to another voter, and returns when that voter leads. If the target already leads, it
   * returns at once.
   *
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; FAILED_PRECONDITION if the target cannot lead or the term has
   * changed; UNAVAILABLE if the target did not take over in time.
   */
  async transferLeadership(options: TransferOptions = {}): Promise<TransferResult> {
    checkTransfer(options, "transferLeadership");
    const { targetId = "", ifTerm = 0 } = options;
    const request = { targetId: textField("targetId", targetId), ifTerm: int64Field("ifTerm", ifTerm) };
    return toPlain((await execute(this.#context, transferLeadershipMethod, request, options)).message);
  }

  /**
   * Compacts the history below a revision: watches can no longer start there. A revision that is not reached yet counts
   * as the newest one.
   *
   * @returns the oldest revision at which a watch can start from now on.
   */
  async compact(revision: number, options: CallOptions = {}): Promise<number> {
    checkCall(options, "compact");
    const request = { revision: int64Field("revision", revision) };
    return Number((await execute(this.#context, compactMethod, request, options)).message.compactRevision);
  }

  /**
   * Changes settings of the cluster, all given ones or none; the others stay.
   *
   * @param values by name, such as `token.lifetime_secs`; null resets a setting to its default.
   * @returns the new revision of the settings; getStatus returns it too, as `settingsRevision`.
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for an unknown name or a value out of bounds; FAILED_PRECONDITION /
   * SETTINGS_CHANGED.
   */
  async putSettings(values: ReadonlyMap<string, number | null>, options: PutSettingsOptions = {}): Promise<number> {
    checkPutSettings(options, "putSettings");
    const { ifSettingsRevision = 0 } = options;
    const entries = [...values].map(([name, value]): [string, string] => [
      textField("values", name),
      value === null ? "" : String(int64Field(`values[${name}]`, value)),
    ]);
    const request = {
      values: new Map(entries),
      ifSettingsRevision: int64Field("ifSettingsRevision", ifSettingsRevision),
    };
    return Number((await execute(this.#context, putSettingsMethod, request, options)).message.settingsRevision);
  }

  /**
   * Starts a backup to the store of the answering member. Served only on admin ports.
   *
   * @returns its id, for getBackupStatus of the same member.
   * @throws QuoinError FAILED_PRECONDITION / NO_BACKUP_STORE, OTHER_BACKUP_STORE, BACKUP_IN_PROGRESS; UNAVAILABLE /
   * NO_LEADER.
   */
  async startBackup(options: StartBackupOptions = {}): Promise<string> {
    checkStartBackup(options, "startBackup");
    const { ifStore = "", allowLeaderless = false } = options;
    const request = { ifStore: textField("ifStore", ifStore), allowLeaderless };
    return (await execute(this.#context, startBackupMethod, request, options)).message.id;
  }

  /**
   * Returns the status of a backup of one member, of its verification, and of the archive as the member knows it.
   *
   * @param id of the backup; empty = the running or the last one.
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; UNAVAILABLE / MEMBER_UNREACHABLE.
   */
  async getBackupStatus(id = "", options: BackupStatusOptions = {}): Promise<BackupStatus> {
    checkBackupStatus(options, "getBackupStatus");
    const { memberId = "" } = options;
    const request = { id: textField("id", id), memberId: textField("memberId", memberId) };
    const { run, ...status } = toPlain((await execute(this.#context, getBackupStatusMethod, request, options)).message);
    return { ...status, run: run === undefined ? undefined : { ...run, phase: enumName(BackupPhase, run.phase) } };
  }

  /**
   * Lists the backups in the store of the member, oldest first.
   *
   * @param clusterId whose backups; empty = those of the member's cluster. Only the admin port shows other clusters.
   * @throws QuoinError FAILED_PRECONDITION / NO_BACKUP_STORE; UNAVAILABLE / BACKUP_STORE_UNAVAILABLE.
   */
  async listBackups(clusterId = "", options: CallOptions = {}): Promise<Plain<ListBackupsResponse>> {
    checkCall(options, "listBackups");
    const request = { clusterId: textField("clusterId", clusterId) };
    return toPlain((await execute(this.#context, listBackupsMethod, request, options)).message);
  }

  /**
   * Streams the state of the answering member, with every write that was acknowledged before. A member without a leader
   * streams its applied state, and says so. Served only on admin ports. It is not retried.
   *
   * @throws QuoinError FAILED_PRECONDITION / BACKUP_IN_PROGRESS; UNAVAILABLE if the member serves no data or does not
   * begin in time; UNIMPLEMENTED / NOT_SERVED on a public port.
   */
  async snapshot(options: SnapshotOptions = {}): Promise<SnapshotStream> {
    checkSnapshot(options, "snapshot");
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
  return int64Field("ifConfigIndex", ifConfigIndex);
}

/**
 * Creates the administration client of a cluster or of one member.
 *
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for unusable options.
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  checkOptions(options, "createAdminClient");
  const endpoints = "endpoints" in options ? options.endpoints : [options.endpoint];
  // A caller that names one member means that one: another has another status, or another admin port.
  const followLeader = "endpoints" in options;
  assertEndpoints(followLeader ? "endpoints" : "endpoint", endpoints);
  return new AdminClient(openContext(endpoints, options, followLeader));
}

/** A status in the form of the SDK. */
function memberStatus(message: MemberStatusMessage): MemberStatus {
  const status = toPlain(message);
  return { ...status, state: enumName(MemberState, message.state), role: enumName(MemberRole, message.role) };
}
