export { type CollectedSpan, TraceCollector, temporaryDirectory } from "../../../testing/index.ts";
export { type Actor, Actors } from "./actors.ts";
export { ok, verdict } from "./answers.ts";
export { type AnyMethod, encodedRequest, methodsByName } from "./any-method.ts";
export { ApiServer } from "./api-server.ts";
export { AppendLoad } from "./append-load.ts";
export { ArchivedCluster } from "./archived-cluster.ts";
export { ClusterMember, type MemberPlacement, type PeerTlsFiles, type ProcessEnd } from "./cluster-member.ts";
export { ClusterUnderTest } from "./cluster-under-test.ts";
export type { ConcurrentLoad, LoadStatistics } from "./concurrent-load.ts";
export { type ConnectAnswer, ConnectPort, type ConnectRequest } from "./connect-port.ts";
export { damageTable, flipInPlace, tablesOf, untilDamageIsFound } from "./damaged-table.ts";
export { type DrivenCall, DrivenReplica, resultOf } from "./driven-replica.ts";
export { FakeTime } from "./fake-time.ts";
export { type Answer, type CallOptions, type FieldsOf, GrpcCaller } from "./grpc-caller.ts";
export { GrpcPorts, gateOf, type ReportedError } from "./grpc-ports.ts";
export { GrpcStream } from "./grpc-stream.ts";
export { HalfOpenConnection, type HalfOpenOptions } from "./half-open-connection.ts";
export { InProcessMember, JOIN_TOKEN } from "./in-process-member.ts";
export {
  appendTo,
  JOINED_MEMBER,
  joinedEntry,
  makeJoinedMember,
  openJoined,
  openJoinedMember,
} from "./joined-member.ts";
export { performKeyOperation } from "./key-operations.ts";
export type { Connect, LoadClient } from "./load-client.ts";
export { MailServer } from "./mail-server.ts";
export { type Listening, MEMBER_PROGRAM, MemberUnderTest } from "./member-process.ts";
export { MemoryBackupStore, MemoryBucket } from "./memory-backup-store.ts";
export { MemoryDriverState } from "./memory-driver-state.ts";
export { type DurableLog, MemoryLogStore } from "./memory-log-store.ts";
export { MemorySnapshot } from "./memory-snapshot.ts";
export {
  type Ended,
  exists,
  type ProcessOptions,
  QUOINCTL_PROGRAM,
  TestProcess,
} from "./process.ts";
export { appendLines } from "./raw-appends.ts";
export { grpcFrame, type RawAnswer, rawGrpcCall } from "./raw-grpc-call.ts";
export { ReplicaCluster } from "./replica-cluster.ts";
export { type LogRecord, recordsOf, replaceEntry, rewriteLog, segmentsOf, usedBytes } from "./rewritten-log.ts";
export { drainCore, follow, followingCore, leadingCore } from "./scripted-core.ts";
export { ScriptedLeader } from "./scripted-leader.ts";
export { ScriptedTransport } from "./scripted-transport.ts";
export { SingleMember } from "./single-member.ts";
export { SingleReplica } from "./single-replica.ts";
export { claimedBasePort, stablePorts } from "./stable-ports.ts";
export { itIsAMemberStateStore } from "./state-store-conformance.ts";
export { countTurns } from "./turn-counter.ts";
export { pause, until } from "./until.ts";
export { WatchedLog, WatchReader } from "./watch-reader.ts";
