import { expect } from "chai";
import { ErrorCode } from "./error-code.ts";
import { headErrorOf } from "./frame-rules.ts";

const { NoError, ProtocolError, FrameSizeError } = ErrorCode;
const [DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] = [
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
] as const;
const [ACK, PADDED, HAS_PRIORITY] = [0x1, 0x8, 0x20];

describe("the rules of a frame's head", () => {
  const rows: readonly (readonly [title: string, frame: readonly [number, number, number, number], code: number])[] = [
    ["DATA on a stream", [DATA, 0, 1, 0], NoError],
    ["DATA on the connection", [DATA, 0, 0, 1], ProtocolError],
    ["padded DATA without a length of padding", [DATA, PADDED, 1, 0], FrameSizeError],
    ["padded DATA of nothing", [DATA, PADDED, 1, 1], NoError],
    ["HEADERS on an odd stream", [HEADERS, 0, 3, 0], NoError],
    ["HEADERS on an even stream", [HEADERS, 0, 2, 1], ProtocolError],
    ["HEADERS on the connection", [HEADERS, 0, 0, 1], ProtocolError],
    ["padded HEADERS without a length of padding", [HEADERS, PADDED, 1, 0], FrameSizeError],
    ["HEADERS with half a priority", [HEADERS, HAS_PRIORITY, 1, 4], FrameSizeError],
    ["HEADERS with a priority", [HEADERS, HAS_PRIORITY, 1, 5], NoError],
    ["padded HEADERS with a priority", [HEADERS, HAS_PRIORITY | PADDED, 1, 5], FrameSizeError],
    ["PRIORITY on the connection", [PRIORITY, 0, 0, 5], ProtocolError],
    ["PRIORITY of any length", [PRIORITY, 0, 1, 4], NoError],
    ["RST_STREAM", [RST_STREAM, 0, 1, 4], NoError],
    ["RST_STREAM on the connection", [RST_STREAM, 0, 0, 4], ProtocolError],
    ["RST_STREAM that is too long", [RST_STREAM, 0, 1, 5], FrameSizeError],
    ["SETTINGS of nothing", [SETTINGS, 0, 0, 0], NoError],
    ["SETTINGS of two", [SETTINGS, 0, 0, 12], NoError],
    ["SETTINGS of one and a half", [SETTINGS, 0, 0, 9], FrameSizeError],
    ["SETTINGS on a stream", [SETTINGS, 0, 1, 0], ProtocolError],
    ["an acknowledgement of SETTINGS", [SETTINGS, ACK, 0, 0], NoError],
    ["an acknowledgement of SETTINGS with settings", [SETTINGS, ACK, 0, 6], FrameSizeError],
    ["PUSH_PROMISE", [PUSH_PROMISE, 0, 1, 4], ProtocolError],
    ["PING", [PING, 0, 0, 8], NoError],
    ["PING that is too short", [PING, ACK, 0, 7], FrameSizeError],
    ["PING on a stream", [PING, 0, 1, 8], ProtocolError],
    ["GOAWAY", [GOAWAY, 0, 0, 8], NoError],
    ["GOAWAY with a word", [GOAWAY, 0, 0, 20], NoError],
    ["GOAWAY that is too short", [GOAWAY, 0, 0, 7], FrameSizeError],
    ["GOAWAY on a stream", [GOAWAY, 0, 1, 8], ProtocolError],
    ["WINDOW_UPDATE on a stream", [WINDOW_UPDATE, 0, 1, 4], NoError],
    ["WINDOW_UPDATE on the connection", [WINDOW_UPDATE, 0, 0, 4], NoError],
    ["WINDOW_UPDATE that is too short", [WINDOW_UPDATE, 0, 0, 3], FrameSizeError],
    ["CONTINUATION on the connection", [CONTINUATION, 0, 0, 1], ProtocolError],
    ["an unknown frame", [0xfe, 0xff, 77, 1_000], NoError],
  ];
  for (const [title, frame, code] of rows) {
    it(`check ${title}`, () => {
      expect(headErrorOf(...frame)).to.equal(code);
    });
  }
});
