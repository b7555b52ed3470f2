/**
 * ClusterAdminService.Bootstrap: founds a cluster on this member, which must be EMPTY, with its owner and the namespace
 * `default`, in one log entry. A repetition on the member that it founded returns the same answer.
 *
 * It checks no user's rights, because there are no users yet. So it belongs on the admin port, behind the admin token.
 */

import type { BootstrapRequest, BootstrapResponse } from "@quoin/proto";
import { createFounding, type Derive } from "../../access/index.ts";
import { badRequestField, type MemberAddress } from "../../state/index.ts";
import { type Call, type Reply, replyWith } from "./call.ts";
import { incarnationField } from "./field-rules.ts";
import type { HostMember } from "./host.ts";

export class BootstrapMethod {
  readonly #member: Pick<HostMember, "name" | "clusterName" | "bootstrap">;
  readonly #address: MemberAddress;
  readonly #derive: Derive | undefined;

  /**
   * @param address of this member for other members and clients; the cluster's record stores it.
   * @param derive hashes the owner's password; in the thread pool by default.
   */
  constructor(
    member: Pick<HostMember, "name" | "clusterName" | "bootstrap">,
    address: MemberAddress,
    derive?: Derive | undefined,
  ) {
    this.#member = member;
    this.#address = address;
    this.#derive = derive;
  }

  /** Takes about as long as hashing the owner's password. */
  bootstrap(_call: Call, request: BootstrapRequest, reply: Reply<BootstrapResponse>): void {
    replyWith(reply, this.#found(request));
  }

  async #found(request: BootstrapRequest): Promise<BootstrapResponse> {
    const incarnation = incarnationField(request.incarnation);
    const { owner } = request;
    if (owner === undefined) {
      throw badRequestField("owner", "is required: there is no other way to create the first user of a cluster");
    }
    const founding = {
      clusterId: request.clusterId,
      clusterName: this.#member.clusterName,
      memberName: this.#member.name,
      incarnation,
      address: this.#address,
      owner,
    };
    return { memberId: String(await this.#member.bootstrap(await createFounding(founding, this.#derive))) };
  }
}
