/** An answer of HTTP/1.1 as it came over the wire, parsed strictly. */

import { RawConnection } from "../index.ts";

export interface RawAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const INTERIM = /^HTTP\/1\.1 100 Continue\r\n\r\n/;
const HEAD = /^HTTP\/1\.1 ([1-5][0-9][0-9]) [^\r\n]*\r\n((?:[!-9;-~]+: [^\r\n]*\r\n)*)\r\n/;

/** The end of the body of every refusal, whether or not the server then closes the connection. */
const END_OF_REFUSAL = /\}$/;

/** Writes the pieces and reads the answer, until the server closes the connection or has refused; null = no answer. */
export async function ask(port: number, pieces: readonly string[]): Promise<RawAnswer | null> {
  return exchange(port, pieces, async (connection) => {
    const isToBeClosed = /\r\nconnection: *close/i.test(pieces.join(""));
    return isToBeClosed ? connection.untilClosed() : connection.until(END_OF_REFUSAL);
  });
}

/** Writes the pieces, ends its side of the connection, and still reads the answer. */
export async function abandon(port: number, pieces: readonly string[]): Promise<RawAnswer | null> {
  return exchange(port, pieces, (connection) => {
    connection.end();
    return connection.untilClosed();
  });
}

async function exchange(
  port: number,
  pieces: readonly string[],
  read: (connection: RawConnection) => Promise<string>,
): Promise<RawAnswer | null> {
  const connection = await RawConnection.open(port);
  try {
    for (const piece of pieces) {
      connection.send(piece);
    }
    return parse(await read(connection));
  } finally {
    connection.destroy();
  }
}

function parse(received: string): RawAnswer | null {
  const text = received.replace(INTERIM, "");
  if (text === "") {
    return null;
  }
  const head = HEAD.exec(text);
  if (head === null) {
    throw new Error(`this is no answer of HTTP: ${JSON.stringify(text)}`);
  }
  const lines = (head[2] ?? "").split("\r\n").filter((line) => line !== "");
  const headers = new Map(lines.map((line) => [nameOf(line), line.slice(line.indexOf(":") + 1).trim()] as const));
  if (headers.size !== lines.length) {
    throw new Error(`a header of the answer is repeated: ${lines.join(" | ")}`);
  }
  return { status: Number(head[1]), headers, body: text.slice(head[0].length) };
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(":")).toLowerCase();
}
