/** A member around a SingleReplica, for specs: EMPTY until its bootstrap, then RUNNING, all in memory. */

import { Access, type ReplicatedState } from "../../src/access/index.ts";
import type { HostMember } from "../../src/api/methods/index.ts";
import { CoordinationError, type Founding } from "../../src/state/index.ts";
import { FoundedCluster } from "../index.ts";
import { SingleReplica } from "./single-replica.ts";

export class SingleMember implements HostMember {
  readonly name = "member-0";
  readonly clusterName = "spec";
  readonly version = "0.0.0-spec";
  /** The problem of its data. */
  reason = "";
  readonly foundedFrom = "";
  /** Problems between it and other members. */
  alarms: readonly string[] = [];
  readonly stateForMs = 2_000;
  readonly uptimeMs = 3_000;
  readonly clockMs = 1_700_000_000_000;
  readonly dbSizeBytes = 4_000;
  readonly diskFreeBytes = 5_000;
  readonly certificate: HostMember["certificate"] = null;
  readonly incarnation: string;
  state: HostMember["state"] = "EMPTY";
  clusterId = "";
  memberId = 0;
  #cluster: FoundedCluster | null = null;
  #replica: SingleReplica | null = null;

  /** @param incarnation 32 hexadecimal digits. */
  constructor(incarnation: string) {
    this.incarnation = incarnation;
  }

  get replica(): SingleReplica | null {
    return this.#replica;
  }

  /** The cluster that this member founded. */
  get cluster(): FoundedCluster {
    if (this.#cluster === null) {
      throw new Error("the member is not founded");
    }
    return this.#cluster;
  }

  /** Removes the replica, as from a member that stops serving. */
  stopServing(): void {
    this.#replica = null;
  }

  /** Access control on the state of this member, while it serves. */
  get replicated(): ReplicatedState {
    const member = this;
    return {
      get state() {
        return member.cluster.state;
      },
      readBarrier: (deadlineMs, done) => member.cluster.readBarrier(deadlineMs, done),
    };
  }

  access(): Access {
    return new Access(this.replicated, { monotonicMs: () => 0, wallMs: () => this.cluster.clock.wallMs() });
  }

  bootstrap(founding: Founding): Promise<number> {
    if (this.clusterId === founding.clusterId) {
      return Promise.resolve(this.memberId);
    }
    if (this.state !== "EMPTY") {
      return Promise.reject(new CoordinationError("NOT_EMPTY", `this member is ${this.state}`));
    }
    this.#cluster = new FoundedCluster(founding);
    this.#replica = new SingleReplica(this.#cluster);
    this.state = "RUNNING";
    this.clusterId = founding.clusterId;
    this.memberId = 1;
    return Promise.resolve(this.memberId);
  }
}
