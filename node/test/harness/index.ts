export { freeBasePort } from "./free-ports.ts";
export { type Answer, type CallOptions, GrpcCaller } from "./grpc-caller.ts";
export { GrpcPorts, type ReportedError } from "./grpc-ports.ts";
export { type Ended, exists, type ProcessOptions, TestProcess } from "./process.ts";
export { grpcFrame, type RawAnswer, rawGrpcCall } from "./raw-grpc-call.ts";
export { SingleMember } from "./single-member.ts";
export { SingleReplica } from "./single-replica.ts";
export { until } from "./until.ts";
