/**
 * Frames of HTTP/2 as a client writes them, and frames that it must not write: this file enforces no rule. The numbers
 * come from RFC 9113 independently of the server's code, so that a mistake there is noticed.
 */

export const FrameType = {
  Data: 0,
  Headers: 1,
  Priority: 2,
  RstStream: 3,
  Settings: 4,
  PushPromise: 5,
  Ping: 6,
  GoAway: 7,
  WindowUpdate: 8,
  Continuation: 9,
} as const;

export const Flag = { Ack: 0x1, EndStream: 0x1, EndHeaders: 0x4, Padded: 0x8, Priority: 0x20 } as const;

export const Setting = {
  HeaderTableSize: 1,
  EnablePush: 2,
  MaxConcurrentStreams: 3,
  InitialWindowSize: 4,
  MaxFrameSize: 5,
  MaxHeaderListSize: 6,
} as const;

export const CLIENT_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const FRAME_HEAD_BYTES = 9;
const NOTHING = Buffer.alloc(0);

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = NOTHING): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** SETTINGS with these values, in this order. */
export function settings(...values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = values.map(([id, value]) => {
    const setting = Buffer.alloc(6);
    setting.writeUInt16BE(id, 0);
    setting.writeUInt32BE(value, 2);
    return setting;
  });
  return frame(FrameType.Settings, 0, 0, Buffer.concat(payload));
}

export const SETTINGS_ACK = frame(FrameType.Settings, Flag.Ack, 0);

export function data(streamId: number, bytes: Uint8Array | string, flags = 0): Buffer {
  return frame(FrameType.Data, flags, streamId, Buffer.from(bytes as Uint8Array));
}

/** DATA with this many bytes of padding. */
export function paddedData(streamId: number, bytes: Uint8Array | string, padding: number, flags = 0): Buffer {
  const payload = Buffer.concat([Buffer.of(padding), Buffer.from(bytes as Uint8Array), Buffer.alloc(padding)]);
  return frame(FrameType.Data, flags | Flag.Padded, streamId, payload);
}

export function windowUpdate(streamId: number, increment: number): Buffer {
  return frame(FrameType.WindowUpdate, 0, streamId, word(increment));
}

export function rstStream(streamId: number, code: number): Buffer {
  return frame(FrameType.RstStream, 0, streamId, word(code));
}

export function ping(text: string, flags = 0): Buffer {
  return frame(FrameType.Ping, flags, 0, Buffer.from(text.padEnd(8).slice(0, 8)));
}

export function goAway(lastStreamId: number, code: number): Buffer {
  return frame(FrameType.GoAway, 0, 0, Buffer.concat([word(lastStreamId), word(code)]));
}

export function priority(streamId: number, dependency: number): Buffer {
  return frame(FrameType.Priority, 0, streamId, Buffer.concat([word(dependency), Buffer.of(16)]));
}
