export { type ArchiveReport, type ArchiverAssignment, NO_ARCHIVE } from "./archive-codec.ts";
export { Backoff } from "./backoff.ts";
export { clientOf } from "./client-address.ts";
export { ConnectionError } from "./connection-error.ts";
export {
  decodeForward,
  decodeForwarded,
  decodeForwardRefused,
  encodeForward,
  encodeForwarded,
  encodeForwardRefused,
  type Forward,
  type Forwarded,
  type ForwardedAttempt,
  type ForwardRefused,
} from "./forward-codec.ts";
export { type Frame, FrameError } from "./frame.ts";
export { FrameType, type LinkKind } from "./frame-type.ts";
export {
  type AcceptorView,
  type Answer,
  type Hello,
  type HelloRefusal,
  type IdentityRefusal,
  type PeerIdentity,
  PROTOCOL_VERSIONS,
  type SelfDescription,
  type VersionRange,
  validateHello,
} from "./hello.ts";
export type { JoinAnswer, JoinRequest, PeerMember, SuccessorCluster } from "./join-codec.ts";
export { JoinTokenFile, JoinTokenFileError } from "./join-token-file.ts";
export { decodeKeptTrace, encodeKeptTrace, KEPT_TRACE_PROTOCOL, type KeptTrace } from "./kept-trace-codec.ts";
export {
  decodeLeaderReply,
  decodeLeaderRequest,
  decodeLeaderTick,
  encodeLeaderReply,
  encodeLeaderRequest,
  encodeLeaderTick,
  encodeMemberAnswer,
  encodeMemberQuestion,
  type LeaderReply,
  type LeaderRequest,
  type LeaderTick,
  type MemberAnswer,
  type MemberHealthReport,
  type MemberQuestion,
  memberAnswerIn,
  memberQuestionIn,
} from "./leader-request-codec.ts";
export type { PeerLimits } from "./limits.ts";
export { EVERY_ADDRESS, listenAt } from "./listen-at.ts";
export { decodeMemberReport, encodeMemberReport, type MemberReport } from "./member-report-codec.ts";
export { decodeMessage, encodeMessage, isMessageType, messageKind, messageType } from "./message-codec.ts";
export type { PeerClock } from "./peer-clock.ts";
export type { ConnectedPeer, PeerHandler, PeerLog } from "./peer-handler.ts";
export { PeerTransport, type PeerTransportOptions } from "./peer-transport.ts";
export { ServerTls } from "./server-tls.ts";
export {
  decodeChunk,
  decodeManifest,
  decodeTrailer,
  encodeChunk,
  encodeManifest,
  encodeTrailer,
  type SnapshotManifest,
} from "./snapshot-codec.ts";
export type { SnapshotReceiver } from "./snapshot-receiver.ts";
export type { SnapshotSender } from "./snapshot-sender.ts";
export {
  CLIENT_TLS_VERSION,
  type ServerTlsFilePaths,
  type TlsFilePaths,
  TlsFilesError,
  type TlsSet,
} from "./tls-files.ts";
