/** The volumes of stopped members, and the effect of `quoin-node recover` on them in a pod. */
import type { Stored } from "../api-server/index.ts";
import type { Directory, Quorum } from "./quorum.ts";

/** How a pod has ended. */
export interface PodEnd {
  readonly exitCode: number;
  /** Its report. */
  readonly message: string;
}

/** Term and index of the last entry of a log. */
export interface LogEnd {
  readonly term: number;
  readonly index: number;
}

export class StoppedMembers {
  /** By incarnation of the directory; other logs end where the log of their cluster ends. */
  readonly logEnds = new Map<string, LogEnd>();
  /** Ends a pod that does not do its work; null if there is no failure. */
  failureOf: (pod: Stored) => PodEnd | null = () => null;
  /** What a pod with a store reports about the archive; a null end if there is no backup of the cluster. */
  archive: { readonly end: object | null } | { readonly problem: string } = { end: null };
  /** New clusters, each with the incarnation of the directory that it continues. */
  readonly recovered: { readonly clusterId: string; readonly from: string }[] = [];

  /** @param directory on the volume of this member */
  run(pod: Stored, member: string, directory: Directory, quorum: Quorum): PodEnd {
    const failure = this.failureOf(pod);
    if (failure !== null) {
      return failure;
    }
    const args: readonly string[] = pod.spec.containers[0].args;
    const flag = (name: string): string | undefined =>
      args.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
    const clusterId = flag("new-cluster-id");
    return clusterId === undefined
      ? this.#survey(directory, quorum, flag("backup-store") !== undefined)
      : this.#recover(member, directory, quorum, clusterId, Number(flag("yes-lose-writes-after")));
  }

  #survey(directory: Directory, quorum: Quorum, hasStore: boolean): PodEnd {
    if (directory.memberId === null) {
      return done({
        directories: [{ directory: "/data", problem: "/data belongs to no cluster yet", mayPass: false }],
      });
    }
    const { term, index } = this.#logEndOf(directory, quorum);
    const member = {
      clusterId: directory.clusterId,
      memberId: directory.memberId,
      lastTerm: term,
      lastIndex: index,
      commitIndex: index,
      voters: quorum.voters.map(({ id }) => id),
      outgoing: [],
    };
    return done({ directories: [{ directory: "/data", member }], ...(hasStore ? { archive: this.archive } : {}) });
  }

  #recover(member: string, directory: Directory, quorum: Quorum, clusterId: string, confirmed: number): PodEnd {
    if (directory.clusterId !== clusterId) {
      const { index } = this.#logEndOf(directory, quorum);
      if (index !== confirmed) {
        return { exitCode: 76, message: JSON.stringify({ problem: `the last index is ${index}, not ${confirmed}` }) };
      }
      this.recovered.push({ clusterId, from: directory.incarnation });
      quorum.succeed(member, directory, clusterId, index);
    }
    return done({ successor: { clusterId, memberId: directory.memberId, name: member } });
  }

  #logEndOf({ incarnation }: Directory, { term, index }: Quorum): LogEnd {
    return this.logEnds.get(incarnation) ?? { term, index };
  }
}

function done(report: object): PodEnd {
  return { exitCode: 0, message: JSON.stringify(report) };
}
