/**
 * What a store of backups contains, and the state of backups and archive. Both say nothing about the contents of a backup,
 * so administrators of all namespaces may read them on every port. Only the admin port shows other clusters in the store.
 */

import {
  type GetBackupStatusRequest,
  GetBackupStatusResponse,
  type ListBackupsRequest,
  type ListBackupsResponse,
} from "@quoin/proto";
import type { MemberBackups } from "../../archive/index.ts";
import type { Clock } from "../../replica/index.ts";
import { badRequestField, CoordinationError, type RequiredAccess, readCluster } from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import { backupEntry, backupStatus } from "./backup-messages.ts";
import { noStore, refusalOf } from "./backup-refusals.ts";
import type { Call, Reply } from "./call.ts";
import { authorized } from "./executor.ts";
import { memberIdField } from "./field-rules.ts";
import type { HostMember } from "./host.ts";
import { backupsQuestion } from "./member-inspection.ts";

export interface BackupListingOptions {
  readonly member: HostMember;
  readonly backups: MemberBackups;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Which backups of the store a caller may see. */
  readonly shows: "all clusters" | "own cluster";
}

const NEED: RequiredAccess = { access: "admin", namespace: "*" };
/** How long to wait for another member, in milliseconds. */
const MEMBER_MS_MAX = 1_000;
const LISTED_MAX = 1_000;
const PROBLEMS_MAX = 100;
const CLUSTER_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class BackupListingMethods {
  readonly #options: BackupListingOptions;

  constructor(options: BackupListingOptions) {
    this.#options = options;
  }

  getBackupStatus(call: Call, request: GetBackupStatusRequest, reply: Reply<GetBackupStatusResponse>): void {
    const { member, backups } = this.#options;
    const report = (): void => {
      const memberId = attempt(() =>
        request.memberId === "" ? member.memberId : memberIdField("member_id", request.memberId),
      );
      if (memberId instanceof Error) {
        reply(memberId, "no");
      } else if (memberId === member.memberId) {
        reply(
          attempt(() => backupStatus(backups, request.id)),
          "no",
        );
      } else {
        this.#askMember(memberId, call, request, reply);
      }
    };
    authorized(call, NEED, report, reply);
  }

  listBackups(call: Call, request: ListBackupsRequest, reply: Reply<ListBackupsResponse>): void {
    const list = (): void => {
      this.#list(request.clusterId)
        .then((response) => reply(response, "no"))
        .catch((error: unknown) => reply(refusalOf(error), "no"));
    };
    authorized(call, NEED, list, reply);
  }

  #askMember(
    memberId: number,
    call: Call,
    { id }: GetBackupStatusRequest,
    reply: Reply<GetBackupStatusResponse>,
  ): void {
    const { member, clock } = this.#options;
    const { replica } = member;
    if (replica === null || readCluster(replica.state)?.members.some((one) => one.id === memberId) !== true) {
      reply(new CoordinationError("MEMBER_NOT_FOUND", `there is no member with id ${memberId}`), "no");
      return;
    }
    const deadlineMs = Math.min(call.deadlineMs, clock.monotonicMs() + MEMBER_MS_MAX);
    replica.memberCalls.ask(memberId, backupsQuestion(id), deadlineMs, (error, answer) =>
      reply(error ?? attempt(() => GetBackupStatusResponse.decode(answer as Uint8Array)), "no"),
    );
  }

  async #list(asked: string): Promise<ListBackupsResponse> {
    const { backups, shows } = this.#options;
    const own = backups.host.clusterId;
    if (asked !== "" && !CLUSTER_ID.test(asked)) {
      throw badRequestField("cluster_id", "must be a UUID in lower case, or empty for the cluster of this member");
    }
    const clusterId = asked === "" ? own : asked;
    if (shows === "own cluster" && clusterId !== own) {
      throw badRequestField(
        "cluster_id",
        "must be the cluster of this member, or empty: only the admin port lists others",
      );
    }
    const listed = await backups.list(clusterId);
    if (listed === null) {
      throw noStore();
    }
    const { chains, problems } = listed.catalog;
    return {
      store: backups.target?.address ?? "",
      clusterId,
      backups: chains.slice(-LISTED_MAX).map(backupEntry),
      problems: problems.slice(0, PROBLEMS_MAX).map(({ message }) => message),
      clusterIds: shows === "own cluster" ? listed.clusterIds.filter((id) => id === own) : listed.clusterIds,
    };
  }
}
