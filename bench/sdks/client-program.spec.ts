import { createClient, exchangeApiKey } from "@quoin/client";
import { expect } from "chai";
import { PythonMissing } from "../../e2e/python/index.ts";
import { ClusterUnderTest } from "../../node/test/harness/index.ts";
import { GoMissing } from "../../scripts/go/index.ts";
import { CASES, writerBeside } from "./cases.ts";
import { ClientProgram, type Order, programFor } from "./client-program.ts";
import { LANGUAGES } from "./options.ts";

const WATCHES = 5;

describe("the programs that measure clients", function () {
  // The first run in Go compiles everything.
  this.timeout(300_000);
  let cluster: ClusterUnderTest | undefined;
  before(async () => {
    cluster = await ClusterUnderTest.start(1);
  });
  after(() => cluster?.dispose());

  for (const language of LANGUAGES) {
    it(`${language}: each client does what it says, and reports what it has done`, async function () {
      const { endpoints, secrets } = cluster as ClusterUnderTest;
      const { apiKey } = secrets;
      const program = await programFor(language).catch((error: unknown) => {
        if (error instanceof PythonMissing || error instanceof GoMissing) {
          console.log(`skipped: ${error.message}`);
          return this.skip();
        }
        throw error;
      });
      const { accessToken: token } = await exchangeApiKey({ endpoints, apiKey });
      const orderOf = (client: string, what: Order["what"], keys: number): Order => {
        const times = { seconds: 0.3, warmUpSeconds: 0.1 };
        return { client, what, endpoints, apiKey, token, inFlight: 4, keys, valueBytes: 8, ...times };
      };
      const { signal } = new AbortController();
      const keys = createClient({ endpoints, credentials: { apiKey } }).keyValue;
      for (const { what, clients } of CASES[language]) {
        for (const client of clients.filter((name) => name !== "etcd")) {
          const measured = new ClientProgram(program, orderOf(client, what, what === "put" ? 0 : WATCHES), signal);
          if (what === "watch") {
            expect(await measured.line()).to.equal("ready");
            measured.tell("begin");
            await new ClientProgram(program, orderOf(writerBeside(client), "put", WATCHES), signal).report();
            measured.tell("end");
          }
          const { operations, durationMs, cpuMs } = await measured.report();
          expect(operations, `${client} ${what}`).to.be.above(0);
          expect(durationMs).to.be.at.least(200);
          expect(cpuMs).to.be.above(0);
          if (what === "put") {
            // Those of the warm-up are there as well.
            expect((await keys.count("default")).keys).to.be.above(operations);
          }
        }
      }
    });
  }
});
