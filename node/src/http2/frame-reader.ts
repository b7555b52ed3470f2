/**
 * Finds the frames in the bytes of a client, in whatever pieces they arrive (RFC 9113 §4.1).
 *
 * The payload of DATA is passed on as it arrives, and never stored. Any other frame is passed on when it is complete:
 * in the received buffer, or in the reader's memory if it arrived in pieces. The length of a frame bounds that memory,
 * and the sink checks the length first. The reader does not know the meaning of frames.
 */
import { DATA, HEAD_BYTES, PADDED, PREFACE, readUint31 } from "./frame.ts";

/** Memory for a frame that arrived in pieces is freed after the frame if it is larger than this. */
const BUFFER_BYTES_KEPT = 256;

/** Takes frames. Bytes are valid only during the call: their memory is reused. */
export interface FrameSink {
  /** Called when the first bytes are not those of HTTP/2. The sink must stop the reader. */
  onWrongPreface(): void;
  /** Checks a frame before its payload arrives. The sink must stop the reader if the frame is wrong. */
  onHead(type: number, flags: number, streamId: number, length: number): void;
  /** Called for a frame other than DATA; the payload is the bytes from `from` to `to`. */
  onFrame(type: number, flags: number, streamId: number, bytes: Uint8Array, from: number, to: number): void;
  /**
   * Called at the beginning of DATA.
   *
   * @param length of the payload, as flow control counts it
   * @param overhead bytes of the padding and of its length field; greater than `length` if the padding is wrong
   */
  onDataHead(flags: number, streamId: number, length: number, overhead: number): void;
  /** Called for the next bytes of this DATA, at least one. */
  onDataPart(bytes: Uint8Array, from: number, to: number): void;
  /** Called at the end of this DATA, after its padding. */
  onDataEnd(): void;
}

export class FrameReader {
  readonly #sink: FrameSink;
  #isStopped = false;
  #prefaceBytes = 0;
  /** The head that was read last. */
  #length = 0;
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** The rest of the payload of DATA that has not arrived yet. */
  #isInData = false;
  #dataBytes = 0;
  #paddingBytes = 0;
  /** The first bytes of an incomplete frame. */
  #buffered: Uint8Array = new Uint8Array(0);
  #bufferedBytes = 0;
  /** How many bytes must be in `#kept` before it can be processed. */
  #wantedBytes = HEAD_BYTES;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Whether the complete preface was read. */
  get hasPreface(): boolean {
    return this.#prefaceBytes === PREFACE.length;
  }

  /** Stored bytes of an incomplete frame, for counting. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Stops: reads nothing more, not even the rest of the present bytes. */
  stop(): void {
    this.#isStopped = true;
    this.#dropBuffer();
  }

  /**
   * Reads bytes up to `to`, or up to the end of the frame that contains `pauseAt`: a frame is not cut for a pause.
   *
   * @returns where it has ended.
   */
  read(bytes: Uint8Array, from: number, to: number, pauseAt = to): number {
    let at = this.hasPreface ? from : this.#readPreface(bytes, from, to);
    while (at < pauseAt && !this.#isStopped) {
      if (this.#isInData) {
        at = this.#readData(bytes, at, to);
      } else if (this.#bufferedBytes > 0) {
        at = this.#addToBuffer(bytes, at, to);
      } else {
        at = this.#readFrame(bytes, at, to);
      }
    }
    return this.#isStopped ? to : at;
  }

  #readPreface(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && this.#prefaceBytes < PREFACE.length && !this.#isStopped) {
      if (bytes[at] !== PREFACE[this.#prefaceBytes]) {
        this.#sink.onWrongPreface();
        return to;
      }
      this.#prefaceBytes++;
      at++;
    }
    return at;
  }

  /** Reads a frame that begins at `at`. */
  #readFrame(bytes: Uint8Array, at: number, to: number): number {
    if (to - at < HEAD_BYTES) {
      return this.#buffer(bytes, at, to, HEAD_BYTES);
    }
    const together = this.#readHead(bytes, at);
    if (to - at < together) {
      return this.#isStopped ? to : this.#buffer(bytes, at, to, together);
    }
    this.#deliver(bytes, at);
    return at + together;
  }

  /** Reads and checks a head. Returns how many bytes of the frame, with its head, must be in one piece. */
  #readHead(bytes: Uint8Array, at: number): number {
    this.#length = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    this.#type = bytes[at + 3] as number;
    this.#flags = bytes[at + 4] as number;
    this.#streamId = readUint31(bytes, at + 5);
    this.#sink.onHead(this.#type, this.#flags, this.#streamId, this.#length);
    if (this.#type !== DATA) {
      return HEAD_BYTES + this.#length;
    }
    return (this.#flags & PADDED) !== 0 ? HEAD_BYTES + 1 : HEAD_BYTES;
  }

  /** Passes on the frame that begins at `at`; its head was read. */
  #deliver(bytes: Uint8Array, at: number): void {
    if (this.#isStopped) {
      return;
    }
    const from = at + HEAD_BYTES;
    if (this.#type === DATA) {
      this.#beginData((this.#flags & PADDED) !== 0 ? 1 + (bytes[from] as number) : 0);
    } else {
      this.#sink.onFrame(this.#type, this.#flags, this.#streamId, bytes, from, from + this.#length);
    }
  }

  #beginData(overhead: number): void {
    this.#sink.onDataHead(this.#flags, this.#streamId, this.#length, overhead);
    if (this.#isStopped) {
      return;
    }
    this.#dataBytes = this.#length - overhead;
    this.#paddingBytes = Math.max(0, overhead - 1);
    this.#isInData = true;
    this.#endData();
  }

  #readData(bytes: Uint8Array, at: number, to: number): number {
    const dataEnd = Math.min(to, at + this.#dataBytes);
    if (dataEnd > at) {
      this.#dataBytes -= dataEnd - at;
      this.#sink.onDataPart(bytes, at, dataEnd);
    }
    const end = Math.min(to, dataEnd + this.#paddingBytes);
    this.#paddingBytes -= end - dataEnd;
    this.#endData();
    return end;
  }

  #endData(): void {
    if (this.#dataBytes === 0 && this.#paddingBytes === 0 && !this.#isStopped) {
      this.#isInData = false;
      this.#sink.onDataEnd();
    }
  }

  /** Stores the rest of the bytes until `wanted` bytes are stored. */
  #buffer(bytes: Uint8Array, at: number, to: number, wanted: number): number {
    this.#wantedBytes = wanted;
    if (this.#buffered.length < wanted) {
      const larger = new Uint8Array(Math.max(wanted, BUFFER_BYTES_KEPT));
      larger.set(this.#buffered.subarray(0, this.#bufferedBytes));
      this.#buffered = larger;
    }
    const end = Math.min(to, at + wanted - this.#bufferedBytes);
    this.#buffered.set(bytes.subarray(at, end), this.#bufferedBytes);
    this.#bufferedBytes += end - at;
    return end;
  }

  #addToBuffer(bytes: Uint8Array, at: number, to: number): number {
    const end = this.#buffer(bytes, at, to, this.#wantedBytes);
    if (this.#bufferedBytes < this.#wantedBytes) {
      return end;
    }
    if (this.#wantedBytes === HEAD_BYTES) {
      const together = this.#readHead(this.#buffered, 0);
      if (this.#isStopped) {
        return to;
      }
      if (together > HEAD_BYTES) {
        return this.#buffer(bytes, end, end, together);
      }
    }
    const frame = this.#buffered;
    this.#dropBuffer();
    this.#deliver(frame, 0);
    return end;
  }

  #dropBuffer(): void {
    this.#bufferedBytes = 0;
    if (this.#buffered.length > BUFFER_BYTES_KEPT) {
      this.#buffered = new Uint8Array(0);
    }
  }
}
