/** The cluster: its members, their state and counters, the leadership, and open streams. */

import type * as Proto from "@quoin/proto";
import { type CallOptions, change, read } from "./call.ts";
import type { Json } from "./json.ts";

export type MemberCounters = Json<Proto.MemberCounters>;
export type MemberStatus = Json<Proto.MemberStatus>;
export type CounterSample = Json<Proto.CounterSample>;
export type ClusterMember = Json<Proto.Member>;
export type OpenStream = Json<Proto.OpenStream>;

/** What every user may know: the members, and the leader. */
export async function getCluster(options: CallOptions): Promise<Json<Proto.GetClusterResponse>> {
  return await read<Proto.GetClusterRequest, Proto.GetClusterResponse>("ClusterService", "GetCluster", {}, options);
}

/** The state and the counters of all members, as far back as the window. */
export async function getMemberCounters(
  windowSeconds: number,
  options: CallOptions,
): Promise<Json<Proto.GetMemberCountersResponse>> {
  return await read<Proto.GetMemberCountersRequest, Proto.GetMemberCountersResponse>(
    "ClusterAdminService",
    "GetMemberCounters",
    { windowSeconds },
    options,
  );
}

/** The replicated settings: the set values, the defaults and the bounds. */
export async function getSettings(options: CallOptions): Promise<Json<Proto.GetSettingsResponse>> {
  return await read<Proto.GetSettingsRequest, Proto.GetSettingsResponse>(
    "ClusterAdminService",
    "GetSettings",
    {},
    options,
  );
}

/** Makes another member the leader. */
export async function transferLeadership(targetId: string, ifTerm: string): Promise<void> {
  await change<Proto.TransferLeadershipRequest, Proto.TransferLeadershipResponse>(
    "ClusterAdminService",
    "TransferLeadership",
    { targetId, ifTerm },
  );
}

/** One page of the open streams of a member. */
export async function listStreams(
  memberId: string,
  namespace: string,
  pageToken: string,
  options: CallOptions,
): Promise<Json<Proto.ListStreamsResponse>> {
  return await read<Proto.ListStreamsRequest, Proto.ListStreamsResponse>(
    "WatchService",
    "ListStreams",
    { memberId, namespace, pageToken },
    options,
  );
}
