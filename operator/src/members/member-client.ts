/**
 * Calls ClusterAdminService on one member's admin port. It does not retry: every change names the version that it is
 * based on, and the caller observes again.
 */
import { randomUUID } from "node:crypto";
import { Metadata, status } from "@grpc/grpc-js";
import { decodeRequest, type MessageCodec, serviceDefinitions } from "@quoin/proto";
import type { Configuration } from "../plan/index.ts";
import { type BackupReport, backupReportOf, type StoredBackup, storedBackupOf } from "./backup-messages.ts";
import { type MemberAddress, MemberChannels } from "./member-channels.ts";
import { MemberError } from "./member-error.ts";
import { configurationOf, type MemberAnswer, memberAnswerOf } from "./messages.ts";

const SERVICE = serviceDefinitions.ClusterAdminService;
const STATUS_MS = 2_000;
const LIST_MS = 1_500;
/** A membership change is one or two entries; founding hashes a password. */
const CHANGE_MS = 5_000;
/** The member lists objects of a store that may be far away. */
const LIST_BACKUPS_MS = 20_000;

/** Credentials of a cluster's owner. */
export interface Owner {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseCodec: MessageCodec<Response>;
}

/** How long calls may take. */
interface CallLimits {
  /** Until a member has reported about itself. */
  readonly statusMs: number;
}

/** All methods throw MemberError. */
export class MemberClient {
  readonly #channels = new MemberChannels();
  readonly #limits: CallLimits;

  constructor(limits: CallLimits = { statusMs: STATUS_MS }) {
    this.#limits = limits;
  }

  /** The member's report about itself; answered in every state. */
  async status(member: MemberAddress): Promise<MemberAnswer> {
    const answer = await this.#call(member, SERVICE.getStatus, {}, this.#limits.statusMs);
    return memberAnswerOf(answer);
  }

  /** The members as the leader knows them, after a round to a majority. */
  async configuration(member: MemberAddress): Promise<Configuration> {
    return configurationOf(await this.#call(member, SERVICE.listMembers, {}, LIST_MS));
  }

  async bootstrap(
    member: MemberAddress,
    founding: { clusterId: string; incarnation: string; owner: Owner },
  ): Promise<void> {
    await this.#call(member, SERVICE.bootstrap, founding, CHANGE_MS);
  }

  /** Sets the owner's password and API key. Idempotent. */
  async resetOwner(member: MemberAddress, owner: Owner): Promise<void> {
    await this.#call(member, SERVICE.resetOwner, { owner }, CHANGE_MS);
  }

  async addSlot(member: MemberAddress, name: string, ifConfigIndex: number): Promise<void> {
    const request = { name, ifConfigIndex: BigInt(ifConfigIndex) };
    await this.#call(member, SERVICE.addMember, request, CHANGE_MS);
  }

  async promote(member: MemberAddress, ids: readonly number[], ifConfigIndex: number): Promise<void> {
    const request = { ids: ids.map(String), ifConfigIndex: BigInt(ifConfigIndex) };
    await this.#call(member, SERVICE.promoteMembers, request, CHANGE_MS);
  }

  async remove(member: MemberAddress, ids: readonly number[], ifConfigIndex: number): Promise<void> {
    const request = { ids: ids.map(String), ifConfigIndex: BigInt(ifConfigIndex) };
    await this.#call(member, SERVICE.removeMembers, request, CHANGE_MS);
  }

  async transfer(member: MemberAddress, targetId: number, ifTerm: number): Promise<void> {
    const request = { targetId: String(targetId), ifTerm: BigInt(ifTerm) };
    await this.#call(member, SERVICE.transferLeadership, request, CHANGE_MS);
  }

  /** @returns the new revision of the settings */
  async putSettings(member: MemberAddress, values: ReadonlyMap<string, string>, ifRevision: number): Promise<number> {
    const request = { values: new Map(values), ifSettingsRevision: BigInt(ifRevision) };
    return Number((await this.#call(member, SERVICE.putSettings, request, CHANGE_MS)).settingsRevision);
  }

  /**
   * Begins a backup into the store of this member. Idempotent by request id, while the process of the member lives.
   *
   * @returns id of the backup
   */
  async startBackup(
    member: MemberAddress,
    { requestId, ifStore, allowLeaderless }: { requestId: string; ifStore: string; allowLeaderless: boolean },
  ): Promise<string> {
    const request = { ifStore, allowLeaderless };
    return (await this.#call(member, SERVICE.startBackup, request, CHANGE_MS, requestId)).id;
  }

  /** @param id of a backup; empty for the running one, or else the last one */
  async backups(member: MemberAddress, id: string): Promise<BackupReport> {
    return backupReportOf(await this.#call(member, SERVICE.getBackupStatus, { id, memberId: "" }, STATUS_MS));
  }

  /** The backups of its cluster in the store of this member. */
  async storedBackups(member: MemberAddress): Promise<StoredBackup[]> {
    const request = { clusterId: "" };
    const { backups } = await this.#call(member, SERVICE.listBackups, request, LIST_BACKUPS_MS);
    return backups.map(storedBackupOf);
  }

  close(): void {
    this.#channels.close();
  }

  #call<Request, Response>(
    member: MemberAddress,
    { path, requestSerialize, responseCodec }: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
    requestId: string = randomUUID(),
  ): Promise<Response> {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${member.token}`);
    metadata.set("api-version", "v1");
    // A change without another condition, such as the first settings, needs a request id.
    metadata.set("request-id", requestId);
    const asked = `${path.slice(path.lastIndexOf("/") + 1)} of ${member.serverName}`;
    const deserialize = (bytes: Buffer): Response => decodeRequest(responseCodec, bytes);
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + timeoutMs;
      const client = this.#channels.open(member);
      client.makeUnaryRequest(path, requestSerialize, deserialize, request, metadata, { deadline }, (error, answer) => {
        if (error !== null) {
          // A connection through a cut network would look alive for many more minutes.
          if (error.code === status.DEADLINE_EXCEEDED) {
            this.#channels.drop(member);
          }
          reject(MemberError.from(asked, error));
        } else if (answer === undefined) {
          reject(new MemberError("INTERNAL", "", `${asked}: an empty answer`));
        } else {
          resolve(answer);
        }
      });
    });
  }
}
