/**
 * The examples of the API reference, at a real member: each call, in their order, must get the documented answer. Every
 * method of gRPC and every operation of HTTP must have an example.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import {
  EXAMPLES,
  ExampleValues,
  type GrpcExample,
  type HttpExample,
  type Json,
  type JsonObject,
} from "../../../scripts/api/index.ts";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type Listening, MemberUnderTest, until } from "../harness/index.ts";
import { callGrpc, callHttp } from "./example-calls.ts";

/** Whose address an example verifies. */
const VERIFIED: ReadonlyMap<string, string> = new Map([
  ["verifyEmail", "anna@example.com"],
  ["AccountService/VerifyEmail", "ben@example.com"],
]);

describe("the examples of the API reference", function () {
  this.timeout(120_000);
  const values = new ExampleValues();
  let member: MemberUnderTest;
  let listening: Listening;
  let access = "";

  before(async () => {
    const directory = temporaryDirectory();
    const store = join(directory, "backups");
    mkdirSync(store);
    member = new MemberUnderTest(directory, { flags: ["--mail-to-log", "--backup-store", store] });
    member.spawn();
    listening = await member.untilListening();
  });

  after(() => member.kill());

  it("have all methods of gRPC and all operations of HTTP", async () => {
    const methods = Object.values(serviceDefinitions).flatMap((service) =>
      Object.values(service).map(({ path }) => path.replace(/^\/coordination\.v1\./, "")),
    );
    const response = await fetch(`http://${listening.http}/openapi.json`);
    const document = (await response.json()) as { paths: Record<string, Record<string, { operationId: string }>> };
    const operations = Object.entries(document.paths)
      .filter(([path]) => !path.startsWith("/coordination.v1."))
      .flatMap(([, path]) => Object.values(path).map(({ operationId }) => operationId));
    const shown = new Set(EXAMPLES.map((example) => (example.kind === "grpc" ? example.method : example.operation)));
    expect(methods).to.have.lengthOf.at.least(30);
    expect([...shown].sort()).to.deep.equal([...methods, ...operations].sort());
  });

  for (const example of EXAMPLES) {
    const name = example.kind === "grpc" ? example.method : example.operation;
    it(`get the documented answer: ${name}${example.about === undefined ? "" : `. ${example.about}`}`, () =>
      example.kind === "grpc" ? runGrpc(example) : runHttp(example));
  }

  async function runGrpc(example: GrpcExample): Promise<void> {
    await learnToken(example.method, example.request);
    const request = values.request(example.request);
    const credentials = { access, admin: member.adminToken };
    let differences: readonly string[] = [];
    await until(`the documented answer: ${example.method}`, async () => {
      const { answers, refusal } = await callGrpc(listening, credentials, { ...example, request });
      differences = [
        ...values.differences(example.answers as Json, answers as Json, { isPart: example.isPart === true }),
        ...values.differences((example.refusal ?? null) as Json, refusal as Json),
      ];
      return differences.length === 0 || example.isRepeated !== true;
    });
    expect(differences, example.method).to.deep.equal([]);
  }

  async function runHttp(example: HttpExample): Promise<void> {
    await learnToken(example.operation, example.json);
    const { json, isRepeated } = example;
    const { status, isPart = false, json: documented, text } = example.answer;
    const sent = {
      ...example,
      target: values.text(example.target),
      ...(json === undefined ? {} : { json: values.request(json) }),
    };
    const real = await until(`the documented answer: ${example.operation}`, async () => {
      const answer = await callHttp(listening, { access, admin: "" }, sent);
      // On a busy machine the event loop may be late, which the member then says.
      const isLate = answer.status === 503 && answer.text.includes("the event loop was");
      const isOther =
        isRepeated === true &&
        documented !== undefined &&
        values.differences(documented, answer.json, { isPart }).length > 0;
      return isLate || isOther ? undefined : answer;
    });
    expect(real.status, real.text).to.equal(status);
    expect(documented === undefined, "an answer is JSON or text").to.equal(text !== undefined);
    if (documented !== undefined) {
      expect(values.differences(documented, real.json, { isPart })).to.deep.equal([]);
    } else if (example.operation.startsWith("watch")) {
      expect(values.differences(eventsOf(String(text)), eventsOf(real.text))).to.deep.equal([]);
    } else if (isPart) {
      expect(real.text.split("\n")).to.include.members(String(text).split("\n"));
    } else {
      expect(real.text).to.equal(text);
    }
    if (example.operation === "exchangeApiKey") {
      access = String((real.json as JsonObject).access_token);
    }
  }

  /** Learns the token that the member has mailed, or rather logged, if the example verifies an address with it. */
  async function learnToken(example: string, request: JsonObject | undefined): Promise<void> {
    const email = VERIFIED.get(example);
    if (email !== undefined) {
      const mail = new RegExp(`${email}.* {4}([^\\s\\\\]+)\\\\r\\\\n`);
      const token = await until("the mail with the token", () => mail.exec(member.process.stdout)?.[1]);
      values.learn(String(request?.token), token);
    }
  }
});

/** The fields of server-sent events, as an answer in JSON that can be compared. */
function eventsOf(text: string): Json {
  return text.split("\n\n").map((block) => {
    const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
    return { ...fields, data: JSON.parse(fields.data) };
  });
}
