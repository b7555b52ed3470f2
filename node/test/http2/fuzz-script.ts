/**
 * The client of a fuzz test: frames by a grammar that knows the open streams, so that most frames reach deep code, and
 * some break a rule. The wildness of a script says how many: none, few, or many.
 */
import type { Dice } from "./dice.ts";
import {
  data,
  Flag,
  FrameType,
  frame,
  goAway,
  paddedData,
  ping,
  priority,
  rstStream,
  SETTINGS_ACK,
  Setting,
  settings,
  windowUpdate,
  word,
} from "./frames.ts";
import { GRPC_REQUEST, RequestEncoder } from "./request-encoder.ts";

/** One frame in this many breaks a rule; null = none. */
export type Wildness = 4 | 40 | null;

const NAMES = ["x-a", "x-b", "grpc-timeout", "authorization", "x-binary-bin"];
const VALUES = ["", "1", "10S", "Bearer abc.def", "v".repeat(200), "\xe9\xff"];
const LENGTHS = [0, 1, 5, 100, 1_000, 16_000, 16_384];
const INCREMENTS = [1, 100, 5_000, 65_535, 1_000_000];
const RULE_BREAKING_INCREMENTS = [0, 0x7fff_ffff];

export class FuzzScript {
  /** The fields of the request on each stream that the grammar opened. */
  readonly requests = new Map<number, readonly string[]>();
  readonly #dice: Dice;
  readonly #wildness: Wildness;
  readonly #encoder = new RequestEncoder();
  #nextId = 1;
  /** Streams whose requests are incomplete. */
  #open: number[] = [];

  constructor(dice: Dice, wildness: Wildness) {
    this.#dice = dice;
    this.#wildness = wildness;
  }

  /** The bytes of the next frame or frames. */
  next(): Buffer {
    const dice = this.#dice;
    if (this.#wildness !== null && dice.once(this.#wildness)) {
      return this.#wrong();
    }
    const kind = dice.below(20);
    if (kind < 6) {
      return this.#request();
    }
    if (kind < 12) {
      return this.#data();
    }
    switch (kind) {
      case 12:
        return this.#trailers();
      case 13:
        return this.#reset();
      case 14:
        return windowUpdate(0, dice.pick(INCREMENTS));
      case 15:
        return windowUpdate(this.#anyId(), dice.pick(INCREMENTS));
      case 16:
        return this.#settings();
      case 17:
        return ping(String(dice.next()), dice.pick([0, Flag.Ack]));
      case 18:
        return dice.pick([priority(this.#nextId, this.#nextId + 2), frame(0x20 + dice.below(9), dice.below(256), 0)]);
      default:
        return dice.once(30) ? goAway(0, 0) : SETTINGS_ACK;
    }
  }

  #request(): Buffer {
    const dice = this.#dice;
    const id = this.#nextId;
    this.#nextId += dice.once(8) ? 4 : 2;
    const fields = [...GRPC_REQUEST];
    if (dice.once(3)) {
      fields[5] = `/quoin.test.Echo/${dice.pick(["Other", "Stream", "Unary"])}`;
    }
    for (let count = dice.below(4); count > 0; count--) {
      fields.push(dice.pick(NAMES), dice.pick(VALUES));
    }
    this.requests.set(id, fields);
    const isComplete = dice.once(3);
    if (!isComplete) {
      this.#open.push(id);
    }
    const flags = isComplete ? Flag.EndStream : 0;
    return dice.once(4)
      ? this.#encoder.cutHeaders(id, fields, 20 + dice.below(60), flags)
      : this.#encoder.headers(id, fields, flags);
  }

  #data(): Buffer {
    const dice = this.#dice;
    const id = this.#openId();
    if (id === null) {
      return this.#request();
    }
    const bytes = Buffer.alloc(dice.pick(LENGTHS), String(id));
    const flags = dice.once(3) ? Flag.EndStream : 0;
    this.#closeIf(id, flags !== 0);
    return dice.once(5) && bytes.length < 16_000
      ? paddedData(id, bytes, dice.below(256), flags)
      : data(id, bytes, flags);
  }

  #trailers(): Buffer {
    const id = this.#openId();
    if (id === null) {
      return this.#request();
    }
    this.#closeIf(id, true);
    return this.#encoder.headers(id, [this.#dice.pick(NAMES), this.#dice.pick(VALUES)], Flag.EndStream);
  }

  #reset(): Buffer {
    const id = this.#anyId();
    if (id === 0) {
      return this.#request();
    }
    this.#closeIf(id, true);
    return rstStream(id, this.#dice.pick([0, 8, 2, 0xffff_ffff]));
  }

  #settings(): Buffer {
    const dice = this.#dice;
    const values: (readonly [number, number])[] = [];
    for (let count = dice.below(4); count > 0; count--) {
      values.push(
        dice.pick([
          [Setting.InitialWindowSize, dice.pick([0, 1, 1_000, 65_535, 1_000_000])],
          [Setting.HeaderTableSize, dice.pick([0, 100, 4_096])],
          [Setting.MaxFrameSize, dice.pick([16_384, 20_000, 16_777_215])],
          [Setting.MaxConcurrentStreams, dice.below(10)],
          [0x99, dice.next()],
        ] as const),
      );
    }
    return settings(...values);
  }

  /** A frame that breaks a rule, or might. */
  #wrong(): Buffer {
    const dice = this.#dice;
    const id = dice.pick([0, this.#anyId(), this.#nextId, this.#nextId + 2, dice.below(20)]);
    switch (dice.below(9)) {
      case 0:
        return frame(dice.below(12), dice.below(256), id, dice.bytes(dice.below(40)));
      case 1:
        return windowUpdate(id, dice.pick(RULE_BREAKING_INCREMENTS));
      case 2:
        return settings([dice.below(8), dice.next()]);
      case 3:
        return this.#wrongRequest(id);
      case 4:
        return data(id, dice.bytes(dice.below(100)), dice.below(256));
      case 5:
        return frame(FrameType.Headers, dice.below(256), id, dice.bytes(dice.below(30)));
      case 6:
        return frame(FrameType.Continuation, dice.below(256), id, dice.bytes(dice.below(30)));
      case 7:
        return frame(FrameType.Priority, 0, id, Buffer.concat([word(id), dice.bytes(dice.below(3))]));
      default:
        return dice.bytes(dice.below(30));
    }
  }

  #wrongRequest(id: number): Buffer {
    const dice = this.#dice;
    const fields = [...GRPC_REQUEST];
    fields[dice.below(fields.length)] = dice.pick(["", "\n", ":path", "connection", "content-length", "X", "te"]);
    this.#nextId = Math.max(this.#nextId, (id | 1) + 2);
    return this.#encoder.headers(id | 1, fields, dice.below(2));
  }

  #openId(): number | null {
    return this.#open.length === 0 ? null : this.#dice.pick(this.#open);
  }

  #closeIf(id: number, isClosed: boolean): void {
    if (isClosed) {
      this.#open = this.#open.filter((each) => each !== id);
    }
  }

  /** A stream that was opened, and that may be closed again. */
  #anyId(): number {
    const ids = [...this.requests.keys()];
    return ids.length === 0 ? 0 : this.#dice.pick(ids.slice(-10));
  }
}
