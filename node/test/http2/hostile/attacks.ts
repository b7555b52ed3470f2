/** The attacks, each on connections of its own. */
import { pause, until } from "../../harness/index.ts";
import { Flag, FrameType, frame, ping, rstStream, Setting, settings, windowUpdate } from "../index.ts";
import type { Attack, AttackTarget } from "./attack.ts";
import { HostileConnection, type HostileTarget } from "./hostile-connection.ts";
import { getRequest, watchRequest } from "./requests.ts";

/** A member accepts 2,500 connections from one address. */
const CONNECTIONS_OF_ADDRESS = 2_000;
const OPENED_AT_ONCE = 100;
const CANCEL = 8;
const FLOOD_FRAMES = 1_000;
const STREAMS_AT_ONCE = 100;
/** Pause of a flood after the member has closed its connection, before it opens another. */
const AGAIN_MS = 20;
/** A flood whose bytes the system does not take looks this often whether its time is over. */
const TAKEN_POLL_MS = 100;
/** How long a flood goes on at most until the member has closed a connection. */
const OVERTIME_MS = 30_000;
const UNKNOWN_TYPE = 0xfe;

function targetOf({ port }: AttackTarget, number: number): HostileTarget {
  return { port, from: `127.0.0.${2 + Math.floor(number / CONNECTIONS_OF_ADDRESS)}` };
}

async function openMany(
  target: AttackTarget,
  count: number,
  own: HostileTarget["settings"],
): Promise<HostileConnection[]> {
  const open: HostileConnection[] = [];
  while (open.length < count) {
    const numbers = Array.from({ length: Math.min(OPENED_AT_ONCE, count - open.length) }, (_, at) => open.length + at);
    open.push(
      ...(await Promise.all(
        numbers.map((number) => HostileConnection.open({ ...targetOf(target, number), ...(own && { settings: own }) })),
      )),
    );
  }
  return open;
}

function closedOf(connections: readonly HostileConnection[]): number {
  return connections.filter(({ isClosed }) => isClosed).length;
}

function destroyAll(connections: readonly HostileConnection[]): void {
  for (const connection of connections) {
    connection.destroy();
  }
}

/**
 * Opens connections, and streams on them, and holds them all.
 *
 * @param untilClosed whether it also waits until the member has closed a connection
 */
async function hold(
  target: AttackTarget,
  own: HostileTarget["settings"],
  begin: (connection: HostileConnection) => Promise<void>,
  untilClosed = false,
): Promise<string> {
  const { connections, streams, holdMs } = target.scale;
  const open = await openMany(target, connections, own);
  await Promise.all(open.map(begin));
  await pause(holdMs);
  if (untilClosed) {
    await until("the member to close a connection", () => closedOf(open) > 0);
  }
  const answered = open.reduce((sum, { answers }) => sum + answers.size, 0);
  const resets = open.reduce((sum, connection) => sum + connection.resets, 0);
  const closed = closedOf(open);
  destroyAll(open);
  return `${connections} × ${streams} streams, ${answered} begun to be answered, ${resets} reset, ${closed} connections closed`;
}

async function openStreams(
  { scale, token }: AttackTarget,
  connection: HostileConnection,
  requestOf: typeof getRequest,
): Promise<void> {
  for (let opened = 0; opened < scale.streams; opened += STREAMS_AT_ONCE) {
    const count = Math.min(STREAMS_AT_ONCE, scale.streams - opened);
    await connection.send(...Array.from({ length: count }, () => requestOf(connection, token).bytes));
  }
}

/**
 * Sends the same bytes again and again on each connection, and opens another one where the member has closed one.
 * `reads` is false for a client that reads no answers.
 */
async function flood(
  target: AttackTarget,
  bytesOf: (connection: HostileConnection) => Buffer,
  { reads }: { readonly reads: boolean },
): Promise<string> {
  const endMs = performance.now() + target.scale.holdMs;
  let opened = 0;
  let sent = 0;
  let closed = 0;
  // A busy member takes longer to close the first connection.
  const isOver = (): boolean => {
    const lateMs = performance.now() - endMs;
    return lateMs >= (closed === 0 ? OVERTIME_MS : 0);
  };
  const one = async (): Promise<void> => {
    while (!isOver()) {
      const connection = await HostileConnection.open(targetOf(target, 0));
      opened++;
      if (!reads) {
        connection.pause();
      }
      while (!connection.isClosed && !isOver()) {
        let isTaken = false;
        const sending = connection.send(bytesOf(connection)).then(() => {
          isTaken = true;
          sent += FLOOD_FRAMES;
        });
        // The member may read nothing more.
        while (!isTaken && !isOver()) {
          await Promise.race([sending, pause(TAKEN_POLL_MS)]);
        }
      }
      closed += connection.isClosed ? 1 : 0;
      connection.destroy();
      await pause(AGAIN_MS);
    }
  };
  await Promise.all(Array.from({ length: target.scale.connections }, one));
  return `${sent} frames on ${opened} connections, one after the other`;
}

function repeated(bytes: Uint8Array): Buffer {
  return Buffer.concat(Array.from({ length: FLOOD_FRAMES }, () => bytes));
}

function always(bytes: Uint8Array): () => Buffer {
  const many = repeated(bytes);
  return () => many;
}

/** HPACK: method POST, scheme http and path / of the static table. */
const POST_ROOT: readonly number[] = [0x83, 0x86, 0x84];
/**
 * A field "x" with a value of 3,900 bytes, which goes into the table (RFC 7541 §6.2.1), then a reference to that field
 * (§6.1).
 */
const LARGE_FIELD: readonly number[] = [0x40, 1, 0x78, 0x7f, 0xbd, 0x1d, ...Buffer.alloc(3_900, "v")];
const NAMED_OFTEN: readonly number[] = Array.from({ length: 100 }, () => 0xbe);

const few = (): number => 100;
/** All connections together have 256 MiB of waiting answers, and as much uncollected garbage. */
const withWaitingAnswers = (): number => 700;
const NO_WINDOW = [[Setting.InitialWindowSize, 0]] as const;

export const ATTACKS: readonly Attack[] = [
  {
    name: "idle connections",
    closeReasons: [],
    refusal: null,
    memoryMebibytesMax: ({ idleConnections }) => 100 + idleConnections / 25,
    run: async (target) => {
      const { idleConnections, holdMs } = target.scale;
      const open = await openMany(target, idleConnections, []);
      await pause(holdMs);
      const closed = closedOf(open);
      destroyAll(open);
      return `${idleConnections} connections, ${closed} closed by the member`;
    },
  },
  {
    name: "no window",
    closeReasons: ["answers-not-taken"],
    refusal: null,
    memoryMebibytesMax: withWaitingAnswers,
    run: (target) => {
      // At most 16 MiB of waiting answers are made for each connection, so 16 connections may keep theirs.
      const connections = Math.ceil(1.5 * target.scale.connections);
      // With more reads at a time, a busy machine needs longer than the other client waits.
      const streams = Math.min(Math.ceil(target.scale.streams / 2), 250);
      const more = { ...target, scale: { ...target.scale, connections, streams } };
      return hold(more, NO_WINDOW, (connection) => openStreams(more, connection, getRequest), true);
    },
  },
  {
    name: "watches without a window",
    closeReasons: [],
    refusal: null,
    memoryMebibytesMax: withWaitingAnswers,
    run: (target) => hold(target, NO_WINDOW, (connection) => openStreams(target, connection, watchRequest)),
  },
  {
    name: "watches that are not read",
    closeReasons: [],
    refusal: null,
    memoryMebibytesMax: withWaitingAnswers,
    run: (target) =>
      hold(target, [[Setting.InitialWindowSize, 2 ** 30]], async (connection) => {
        await connection.send(windowUpdate(0, 2 ** 30));
        await openStreams(target, connection, watchRequest);
        connection.pause();
      }),
  },
  {
    name: "rapid reset",
    closeReasons: ["too-many-resets"],
    refusal: null,
    // The calls of a burst have begun, and 12,000 of them are garbage at the same time.
    memoryMebibytesMax: () => 200,
    run: async (target) => {
      const { resets } = target.scale;
      let sent = 0;
      let opened = 0;
      while (sent < resets) {
        const connection = await HostileConnection.open(targetOf(target, 0));
        opened++;
        while (sent < resets && !connection.isClosed) {
          const parts = Array.from({ length: STREAMS_AT_ONCE }, () => {
            const { id, bytes } = getRequest(connection, target.token);
            return Buffer.concat([bytes, rstStream(id, CANCEL)]);
          });
          await connection.send(...parts);
          sent += STREAMS_AT_ONCE;
        }
        connection.destroy();
      }
      return `${sent} streams on ${opened} connections, one after the other`;
    },
  },
  {
    name: "CONTINUATION flood",
    closeReasons: ["too-many-continuations", "header-block-too-large"],
    refusal: null,
    memoryMebibytesMax: few,
    run: (target) => {
      const begin = frame(FrameType.Headers, 0, 1, Buffer.of(0x82));
      const endless = Buffer.concat([begin, repeated(frame(FrameType.Continuation, 0, 1, Buffer.of(0x82)))]);
      return flood(target, () => endless, { reads: true });
    },
  },
  {
    name: "SETTINGS flood",
    closeReasons: ["too-many-settings"],
    refusal: null,
    memoryMebibytesMax: few,
    run: (target) => flood(target, always(settings()), { reads: true }),
  },
  {
    name: "PING flood",
    closeReasons: ["too-many-pings"],
    refusal: null,
    memoryMebibytesMax: few,
    run: (target) => flood(target, always(ping("flood")), { reads: true }),
  },
  {
    name: "PING flood, answers not read",
    closeReasons: ["too-many-pings"],
    refusal: null,
    memoryMebibytesMax: few,
    run: (target) => flood(target, always(ping("flood")), { reads: false }),
  },
  {
    name: "unknown frames",
    closeReasons: ["too-many-ignored-frames"],
    refusal: null,
    memoryMebibytesMax: few,
    run: (target) => flood(target, always(frame(UNKNOWN_TYPE, 0, 0)), { reads: true }),
  },
  {
    name: "large header lists",
    closeReasons: ["too-many-stream-errors"],
    refusal: "header-list-too-large",
    memoryMebibytesMax: few,
    run: (target) => flood(target, headerBomb, { reads: true }),
  },
];

/**
 * A request whose fields are larger than the member accepts, in a few bytes: one field of 3,900 bytes goes into the
 * table, and is referenced a hundred times.
 */
function headerBomb(connection: HostileConnection): Buffer {
  const bytes = Array.from({ length: FLOOD_FRAMES }, () => {
    const id = connection.nextStreamId();
    const block = id === 1 ? [...POST_ROOT, ...LARGE_FIELD, ...NAMED_OFTEN] : [...POST_ROOT, ...NAMED_OFTEN];
    return frame(FrameType.Headers, Flag.EndHeaders | Flag.EndStream, id, Buffer.from(block));
  });
  return Buffer.concat(bytes);
}
