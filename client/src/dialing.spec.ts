import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { failure, ScriptedMember, testCertificate, until } from "../test/index.ts";
import { type Client, createClient, type TlsOptions } from "./index.ts";

/** Listens, and accepts nothing: its thread waits for ever. */
const deafListener = `
  const server = require("node:net").createServer();
  server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
    require("node:fs").writeSync(1, server.address().port + "\\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
/** A connection on the loopback interface that has not come after this time does not come. */
const ignoredAfterMs = 300;

describe("connections that are not established", () => {
  const clients: Client[] = [];
  const sockets: Socket[] = [];
  let server: Server | undefined;
  let child: ChildProcess | undefined;

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    if (child?.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
    server?.close();
    server = undefined;
    child = undefined;
  });

  function clientOf(endpoint: string, tls?: TlsOptions): Client {
    const client = createClient({ endpoints: [endpoint], credentials: { token: "t" }, tls });
    clients.push(client);
    return client;
  }

  /** A server that accepts connections and sends nothing. */
  async function silentServer(): Promise<string> {
    const listening = createServer((socket) => {
      socket.on("error", () => undefined);
      sockets.push(socket);
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
    return `127.0.0.1:${(listening.address() as AddressInfo).port}`;
  }

  /** An address where connections neither succeed nor fail: its queue is full. */
  async function silentAddress(): Promise<string> {
    child = spawn(process.execPath, ["--eval", deafListener], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(child.stdout!, "data")) as [Buffer];
    const port = Number(line.toString());
    for (;;) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      sockets.push(socket);
      socket.setTimeout(ignoredAfterMs);
      const event = await Promise.race(["connect", "timeout"].map((name) => once(socket, name).then(() => name)));
      if (event === "timeout") break;
      socket.setTimeout(0);
    }
    return `127.0.0.1:${port}`;
  }

  function connecting(): number {
    return process.getActiveResourcesInfo().filter((resource) => resource === "ConnectWrap").length;
  }

  for (const [operation, start] of [
    ["a call", (client: Client) => client.keyValue.get("n", "k")],
    ["a watch", (client: Client) => client.watch.keys("n")],
  ] as const) {
    it(`end with the client of ${operation}, although no connection comes`, async () => {
      const client = clientOf(await silentAddress());
      const before = connecting();
      const failing = failure(start(client));
      await until("the attempt", () => connecting() > before);
      client.close();
      await until("the end of the attempt", () => connecting() === before);
      expect((await failing).code).to.equal("CANCELLED");
    });

    it(`end with the client of ${operation}, although the TLS handshake has no answer`, async () => {
      const client = clientOf(await silentServer(), { ca: testCertificate });
      const failing = failure(start(client));
      const socket = await until("the connection", () => sockets[0]);
      await once(socket, "readable");
      client.close();
      await until("the end of the connection", () => {
        socket.resume();
        return socket.readableEnded || socket.destroyed;
      });
      expect((await failing).code).to.equal("CANCELLED");
    });
  }

  it("do not begin after the client was closed", async () => {
    const endpoint = await silentServer();
    const client = clientOf(endpoint);
    const failing = failure(client.keyValue.get("n", "k"));
    client.close();
    expect((await failing).code).to.equal("CANCELLED");
    // A later connection arrives after one that was begun before.
    const later = connect(Number(endpoint.split(":")[1]), "127.0.0.1");
    sockets.push(later);
    await until("the later connection", () => sockets.some((socket) => socket.remotePort === later.localPort));
    const others = sockets.filter((socket) => socket !== later && socket.remotePort !== later.localPort);
    await until("the end of all others", () =>
      others.every((socket) => socket.resume().readableEnded || socket.destroyed),
    );
  });

  it("are another matter than established ones: a call in flight gets its answer after the client was closed", async () => {
    const answer = Promise.withResolvers<{ revision: bigint }>();
    const member = await ScriptedMember.start({ getKey: () => answer.promise });
    try {
      const client = clientOf(member.endpoint);
      const reading = client.keyValue.get("n", "k");
      await until("the call", () => member.calls.length === 1);
      client.close();
      answer.resolve({ revision: 7n });
      expect((await reading).revision).to.equal(7);
    } finally {
      member.stop();
    }
  });
});
