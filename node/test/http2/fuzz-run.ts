/**
 * The runs of the fuzz test, each of one connection that follows from a seed:
 *
 * - frames by the grammar, twice: as they are, and cut at other places. Both must lead to the same end, byte by byte.
 * - frames by the grammar, under small bounds, with a socket that writes sometimes, and with time that passes.
 * - recorded bytes of real clients, changed in a few places.
 */
import { Dice } from "./dice.ts";
import { FuzzConnection, SMALL_LIMITS, WIDE_LIMITS } from "./fuzz-connection.ts";
import { FuzzScript, type Wildness } from "./fuzz-script.ts";

const FRAMES_MAX = 80;
const UNCUT = 64 * 1024;
const MUTATIONS_MAX = 6;

export interface FuzzRun {
  /** Sent frames, or parts of a recorded connection. */
  readonly frames: number;
  /** Why the connection ended; "open" if it did not. */
  readonly end: string;
}

/**
 * Runs the connection of a seed. Throws an error if a rule was broken.
 *
 * @param recorded recorded bytes of clients, from the preface on.
 */
export function fuzzConnection(seed: number, recorded: readonly Buffer[]): FuzzRun {
  const dice = new Dice(seed);
  switch (seed % 4) {
    case 0:
      return runTwice(seed, dice);
    case 3:
      return runRecorded(seed, dice, dice.pick(recorded));
    default:
      return runBounded(seed, dice);
  }
}

function runTwice(seed: number, dice: Dice): FuzzRun {
  const wildness: Wildness = dice.pick([null, 4, 40]);
  const script = new FuzzScript(dice, wildness);
  const frames = Array.from({ length: dice.below(FRAMES_MAX) }, () => script.next());
  const whole = new FuzzConnection(seed, WIDE_LIMITS, UNCUT, false);
  const cut = new FuzzConnection(seed, WIDE_LIMITS, 1 + dice.below(dice.pick([4, 300])), false);
  for (const frame of frames) {
    whole.send(frame);
    cut.send(frame);
  }
  for (const connection of [whole, cut]) {
    connection.take();
  }
  if (whole.transcript() !== cut.transcript()) {
    throw new Error(`Broken: the same bytes lead to the same end\n${whole.transcript()}\n\n${cut.transcript()}`);
  }
  const end = whole.link.connection.closeResult?.reason ?? "open";
  if (wildness === null) {
    ensureUnderstood(whole, script, end);
  }
  return { frames: 2 * frames.length, end };
}

/** Ends of connections whose clients keep the rules. */
const GOOD_ENDS: ReadonlySet<string> = new Set(["open", "peer-went-away", "closed-by-server"]);

/** A client that keeps the rules is served, and its requests arrive unchanged. */
function ensureUnderstood(connection: FuzzConnection, script: FuzzScript, end: string): void {
  if (!GOOD_ENDS.has(end)) {
    throw new Error(`Broken: a client that keeps the rules is served, and not closed as ${end}`);
  }
  for (const { id, fields } of connection.link.callsOf("request")) {
    if (fields.join("\n") !== script.requests.get(id)?.join("\n")) {
      throw new Error(`Broken: the request of stream ${id} is as it was sent: ${fields.join(" ")}`);
    }
  }
}

function runBounded(seed: number, dice: Dice): FuzzRun {
  const script = new FuzzScript(dice, dice.pick([null, 4, 40]));
  const connection = new FuzzConnection(seed, SMALL_LIMITS, dice.pick([UNCUT, 1 + dice.below(300)]));
  const frames = dice.below(FRAMES_MAX);
  for (let sent = 0; sent < frames; sent++) {
    if (connection.link.connection.isReading) {
      connection.send(script.next());
      connection.check();
    }
    if (dice.once(5)) {
      connection.take();
    }
    if (dice.once(10)) {
      connection.link.pass(dice.pick([100, 1_000, 20_000]));
    }
    if (dice.once(100)) {
      connection.link.connection.drain(connection.link.nowMs + dice.below(5_000));
    }
  }
  connection.take();
  return { frames, end: connection.link.connection.closeResult?.reason ?? "open" };
}

function runRecorded(seed: number, dice: Dice, original: Buffer): FuzzRun {
  const bytes = Buffer.from(original);
  for (let count = dice.below(MUTATIONS_MAX); count > 0; count--) {
    mutate(bytes, dice);
  }
  const limits = dice.pick([SMALL_LIMITS, {}]);
  const connection = new FuzzConnection(seed, limits, UNCUT);
  let parts = 0;
  // The connection has its preface already.
  for (let at = 24; at < bytes.length; parts++) {
    const end = Math.min(bytes.length, at + 1 + dice.below(2_000));
    connection.send(bytes.subarray(at, end));
    connection.check();
    if (dice.once(3)) {
      connection.take();
    }
    at = end;
  }
  connection.take();
  return { frames: parts, end: connection.link.connection.closeResult?.reason ?? "open" };
}

/** Changes a byte, or copies a few bytes over others. */
function mutate(bytes: Buffer, dice: Dice): void {
  const at = dice.below(bytes.length);
  switch (dice.below(3)) {
    case 0:
      bytes[at] = dice.next();
      break;
    case 1:
      bytes[at] = (bytes[at] as number) ^ (1 << dice.below(8));
      break;
    default:
      bytes.copyWithin(at, dice.below(bytes.length), dice.below(bytes.length));
  }
}
