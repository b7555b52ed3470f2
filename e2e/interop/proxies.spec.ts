/** A real nginx between clients and a cluster: with its defaults, and with the configuration of docs/proxies.md. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { readDescriptorSet } from "@quoin/proto";
import { expect } from "chai";
import { claimedBasePort, until } from "../../node/test/harness/index.ts";
import { LocalConformanceCluster } from "../../node/verify/conformance/index.ts";
import { temporaryDirectory } from "../../testing/index.ts";

const START_LIMIT_MS = 300_000;
const CALL_MS = 20_000;
const NAMESPACE = "default";
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));

interface WatchedKeys {
  readonly created: boolean;
  readonly events: readonly { readonly kv?: { readonly key: string } }[];
}

/** A proxy with one configuration, in a directory of its own. */
class Nginx {
  readonly #directory = temporaryDirectory();
  readonly #process: ChildProcess;
  #errors = "";

  /** @param servers what is inside the block `http` */
  constructor(servers: string) {
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => {
      mkdirSync(join(this.#directory, kind));
      return `${kind}_temp_path ${join(this.#directory, kind)};`;
    });
    const file = join(this.#directory, "nginx.conf");
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${join(this.#directory, "pid")};
       events {}
       http { access_log off; ${paths.join(" ")} ${servers} }`,
    );
    this.#process = spawn("nginx", ["-e", "stderr", "-p", this.#directory, "-c", file], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process.stderr?.on("data", (bytes) => {
      this.#errors += bytes;
    });
  }

  /** Waits until it serves the address. */
  async ready(url: string): Promise<void> {
    await until(`nginx to serve ${url}`, async () => {
      expect(this.#process.exitCode, this.#errors).to.equal(null);
      return (await fetch(`${url}/livez`).catch(() => undefined))?.status === 200;
    });
  }

  async end(): Promise<void> {
    if (this.#process.exitCode === null) {
      this.#process.kill();
      await once(this.#process, "exit");
    }
  }
}

function isInstalled(): boolean {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("behind nginx", function () {
  this.timeout(START_LIMIT_MS);
  let cluster: LocalConformanceCluster;
  let proxies: Nginx[] = [];
  let token: string;
  /** Where the defaults, and the configuration of the manual for HTTP and for gRPC, are served. */
  let urls: { readonly plain: string; readonly http: string; readonly grpc: string };

  before(async function () {
    if (!isInstalled()) {
      this.skip();
    }
    cluster = await LocalConformanceCluster.start();
    const { endpoints, httpEndpoints, token: shown } = await cluster.target();
    token = shown;
    const [grpc = "", http = ""] = [endpoints[0], httpEndpoints[0]];
    const base = await claimedBasePort();
    const ports = { plain: base, http: base + 1, grpc: base + 2 };
    const address = (port: number): string => `127.0.0.1:${port}`;
    const [, manual = ""] = /^```nginx\n([^`]+)```$/m.exec(readFileSync("docs/proxies.md", "utf8")) ?? [];
    const ofManual = Object.entries({
      "127.0.0.1:7401": http,
      "127.0.0.1:7400": grpc,
      "listen 8080": `listen ${address(ports.http)}`,
      "listen 8081": `listen ${address(ports.grpc)}`,
    }).reduce((text, [from, to]) => {
      expect(text, "the page").to.include(from);
      return text.replaceAll(from, to);
    }, manual);
    urls = {
      plain: `http://${address(ports.plain)}`,
      http: `http://${address(ports.http)}`,
      grpc: `http://${address(ports.grpc)}`,
    };
    proxies = [
      new Nginx(`server { listen ${address(ports.plain)}; location / { proxy_pass http://${http}; } }`),
      new Nginx(ofManual),
    ];
    await proxies[0]?.ready(urls.plain);
    await proxies[1]?.ready(urls.http);
  });

  after(async () => {
    for (const proxy of proxies) {
      await proxy.end();
    }
    await cluster?.remove();
  });

  const headers = () => ({
    authorization: `Bearer ${token}`,
    "api-version": "v1",
    "request-id": randomUUID(),
  });

  /** A put over Connect with JSON. */
  async function put(url: string, key: string): Promise<void> {
    const answer = await fetch(`${url}/coordination.v1.KeyValueService/PutKey`, {
      method: "POST",
      headers: { ...headers(), "content-type": "application/json" },
      body: JSON.stringify({ namespace: NAMESPACE, key, valueText: "v" }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    expect(answer.status, await answer.text()).to.equal(200);
  }

  for (const kind of ["plain", "http"] as const) {
    const configuration = kind === "plain" ? "with its defaults" : "as the manual has it";

    it(`gets server-sent events at once, ${configuration}`, async () => {
      const [url, prefix] = [urls[kind], `sse-${kind}/`];
      const answer = await fetch(`${url}/v1/watch/keys?namespace=${NAMESPACE}&prefix=${prefix}`, {
        headers: { ...headers(), accept: "text/event-stream" },
        signal: AbortSignal.timeout(CALL_MS),
      });
      expect(answer.status).to.equal(200);
      const texts = (answer.body ?? expect.fail("no body")).pipeThrough(new TextDecoderStream()).values();
      let seen = "";
      const see = async (word: string): Promise<void> => {
        while (!seen.includes(word)) {
          seen += (await texts.next()).value ?? expect.fail(`the stream ended without ${word}: ${seen}`);
        }
      };
      await see("event: created");
      await put(url, `${prefix}a`);
      await see(`"key":"${prefix}a"`);
      await texts.return?.();
    });
  }

  async function watchOver(transport: Transport, prefix: string, write: (key: string) => Promise<unknown>) {
    const watches = createClient(serviceOf("WatchService"), transport) as unknown as Record<
      string,
      (request: object, options: object) => AsyncIterable<WatchedKeys>
    >;
    const request = { namespace: NAMESPACE, prefix };
    const messages = watches.watchKeys?.(request, { headers: headers(), signal: AbortSignal.timeout(CALL_MS) });
    for await (const { created, events } of messages ?? expect.fail("there is no WatchKeys")) {
      if (created) {
        await write(`${prefix}a`);
      }
      if (events.length > 0) {
        expect(events[0]?.kv?.key).to.equal(`${prefix}a`);
        return;
      }
    }
    expect.fail("the stream ended");
  }

  it("gets a stream of Connect at once, as the manual has it", async () => {
    const transport = createConnectTransport({ baseUrl: urls.http, httpVersion: "1.1", useBinaryFormat: false });
    await watchOver(transport, "connect/", (key) => put(urls.http, key));
  });

  it("writes, reads and watches over gRPC, as the manual has it", async () => {
    const sessionManager = new Http2SessionManager(urls.grpc);
    const transport = createGrpcTransport({ baseUrl: urls.grpc, sessionManager });
    const keys = createClient(serviceOf("KeyValueService"), transport) as unknown as Record<
      string,
      (request: object, options: object) => Promise<{ readonly modRevision?: bigint }>
    >;
    const call = (method: string, request: object) =>
      keys[method]?.(request, { headers: headers(), signal: AbortSignal.timeout(CALL_MS) }) ??
      expect.fail(`there is no ${method}`);
    const write = (key: string) => call("putKey", { namespace: NAMESPACE, key, value: Buffer.from("v") });
    await watchOver(transport, "grpc/", write);
    const error = await call("getKey", { namespace: NAMESPACE, key: "grpc/absent" }).catch((thrown) => thrown);
    expect(String(error), "trailers").to.match(/not_found/);
    sessionManager.abort();
  });
});

function serviceOf(name: string): DescService {
  return registry.getService(`coordination.v1.${name}`) ?? expect.fail(`the descriptors have no ${name}`);
}
