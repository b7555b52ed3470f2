/**
 * Clients in Go, on grpc-go: gRPC's own interop client against the member's gRPC host, and a client of the contract at
 * a cluster of three. Without Go they are skipped, with the reason.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { LocalConformanceCluster } from "../../node/verify/conformance/index.ts";
import { GoMissing } from "../../scripts/go/index.ts";
import { goClient } from "./go-client.ts";
import { TestService } from "./test-service.ts";

const DESCRIPTORS = fileURLToPath(new URL("../../proto/generated/descriptors.binpb", import.meta.url));
/** The first run downloads modules and builds the client. */
const START_LIMIT_MS = 300_000;
const CASES = [
  ...["empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream"],
  ...["timeout_on_sleeping_server", "cancel_after_begin", "cancel_after_first_response", "status_code_and_message"],
  ...["special_status_message", "unimplemented_method", "unimplemented_service"],
];
const SCENARIOS = [
  "put",
  "refusal",
  "gzip",
  "large",
  "binary-metadata",
  "deadline",
  "cancellation",
  "transaction",
  "accounts",
  "session",
  "semaphore",
  "watch",
];

const execute = promisify(execFile);

describe("clients in Go", function () {
  this.timeout(START_LIMIT_MS);
  let client: string;

  before(async function () {
    try {
      client = await goClient();
    } catch (error) {
      if (!(error instanceof GoMissing)) {
        throw error;
      }
      console.log(`skipped: ${error.message}`);
      this.skip();
    }
  });

  describe("gRPC's own, at its TestService on the host of the public port", () => {
    let service: TestService;

    before(async () => {
      service = await TestService.start();
    });

    after(() => service?.stop());

    for (const name of CASES) {
      it(`passes ${name}`, async () => {
        await execute(client, ["reference", name, service.endpoint]);
      });
    }
  });

  describe("one of the contract, at a cluster of three members", () => {
    let cluster: LocalConformanceCluster | undefined;
    let endpoints: readonly string[];
    let environment: NodeJS.ProcessEnv;

    before(async () => {
      cluster = await LocalConformanceCluster.start();
      const target = await cluster.target();
      endpoints = target.endpoints;
      environment = { ...process.env, QUOIN_TOKEN: target.token, QUOIN_DESCRIPTORS: DESCRIPTORS };
    });

    after(() => cluster?.remove());

    for (const scenario of SCENARIOS) {
      it(`plays the scenario ${scenario}, each call through another member`, async () => {
        await execute(client, ["quoin", scenario, ...endpoints], { env: environment });
      });
    }

    it("has an answer to each call while a member stops, and goes on at another one", async () => {
      const [leaving = "", staying = ""] = endpoints;
      const [pid] = cluster?.memberPids.values() ?? [];
      const process = spawn(client, ["quoin", "drain", leaving, staying], { env: environment });
      const ended = once(process, "close");
      let complaint = "";
      process.stderr.setEncoding("utf8").on("data", (text: string) => {
        complaint += text;
      });
      await Promise.race([once(process.stdout, "data"), ended]);
      expect(complaint).to.equal("");
      globalThis.process.kill(pid ?? expect.fail("the cluster has members"), "SIGTERM");
      const [code] = await ended;
      expect([code, complaint]).to.deep.equal([0, ""]);
    });
  });
});
