/** The error codes of RST_STREAM and GOAWAY (RFC 9113 §7). A peer may send any other number. */
export const ErrorCode = {
  NoError: 0x0,
  ProtocolError: 0x1,
  InternalError: 0x2,
  FlowControlError: 0x3,
  StreamClosed: 0x5,
  FrameSizeError: 0x6,
  RefusedStream: 0x7,
  Cancel: 0x8,
  CompressionError: 0x9,
  EnhanceYourCalm: 0xb,
} as const;
