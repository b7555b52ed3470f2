import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Metadata, status } from "@grpc/grpc-js";
import { expect } from "chai";
import {
  failure,
  ScriptedMember,
  TEST_CERTIFICATE,
  TEST_KEY,
  UNTRUSTED_CERTIFICATE,
  UNTRUSTED_KEY,
} from "../../test/index.ts";
import { createAdminClient, type QuoinError, type TlsOptions } from "../index.ts";
import { callFailure, noAnswer } from "./connection-failure.ts";

const REVISION = { getKey: () => ({ revision: 1n }) };

/** The error of a call. */
async function errorOf(endpoint: string, tls?: TlsOptions, timeoutMs = 60_000): Promise<QuoinError> {
  const admin = createAdminClient({ endpoint, credentials: { token: "t" }, tls, timeoutMs });
  try {
    return await failure(admin.getStatus());
  } finally {
    admin.close();
  }
}

describe("an error without a connection", () => {
  let encrypted: ScriptedMember;
  let foreign: ScriptedMember;
  let plain: ScriptedMember;

  before(async () => {
    encrypted = await ScriptedMember.start(REVISION, { tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } });
    foreign = await ScriptedMember.start(REVISION, { tls: { certificate: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY } });
    plain = await ScriptedMember.start(REVISION);
  });

  after(() => {
    for (const member of [encrypted, foreign, plain]) {
      member.stop();
    }
  });

  it("says that no process listens", async () => {
    const { message, details } = await errorOf("127.0.0.1:1");
    const reason = "no process listens there (connect ECONNREFUSED 127.0.0.1:1)";
    expect(message).to.equal(`no connection to 127.0.0.1:1: ${reason}`);
    expect(Object.fromEntries(details)).to.deep.equal({ address: "127.0.0.1:1", connection: "refused" });
  });

  it("says that a port speaks HTTP instead of gRPC", async () => {
    const website = createServer((_request, response) => response.end("hello"));
    await once(website.listen(0, "127.0.0.1"), "listening");
    const endpoint = `127.0.0.1:${(website.address() as AddressInfo).port}`;
    try {
      const error = await errorOf(endpoint, undefined, 300);
      expect(error).to.include({ code: "UNAVAILABLE" });
      expect(error.message).to.include("the port speaks another protocol");
      expect(error.details.get("connection")).to.equal("other-protocol");
    } finally {
      website.close();
    }
  });

  it("says that a certificate is not trusted, or is for another address", async () => {
    const untrusted = await errorOf(encrypted.endpoint, {});
    expect(untrusted).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
    expect(untrusted.message).to.match(
      /^no connection to .*: its certificate is not trusted \(self-signed certificate\)$/,
    );
    const identity = { ca: UNTRUSTED_CERTIFICATE, certificate: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY };
    expect((await errorOf(foreign.endpoint, identity)).message).to.match(
      /: its certificate is for another address \(Hostname\/IP does not match .*\)$/,
    );
  });

  it("says that one side speaks TLS and the other does not", async () => {
    expect((await errorOf(plain.endpoint, {})).message).to.match(
      /: the port does not speak TLS \(wrong version number\)$/,
    );
    expect((await errorOf(encrypted.endpoint)).message).to.equal(
      `no connection to ${encrypted.endpoint}: the other side closed the connection`,
    );
  });

  for (const [text, words] of [
    ["Name resolution failed for target dns:absent.example:7400", "the name has no address"],
    ["getaddrinfo ENOTFOUND absent.example", "the name has no address (getaddrinfo ENOTFOUND absent.example)"],
    ["connect EHOSTUNREACH 10.0.0.1:7400", "there is no way to this network (connect EHOSTUNREACH 10.0.0.1:7400)"],
    ["connect ETIMEDOUT 10.0.0.1:7400", "no answer in time (connect ETIMEDOUT 10.0.0.1:7400)"],
    ["no connection in time", "no answer in time"],
    ["no answer in time", "no answer in time"],
    ["No connection established. Last error: null. Resolution note: ", "no reason is known"],
    ["certificate has expired", "its certificate has expired"],
    [
      "80C8A1:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/openssl/ssl/s3.c:9:",
      "it refuses the client certificate, or wants one (tlsv13 alert certificate required)",
    ],
    ["something else", "something else"],
  ] as const) {
    it(`explains ${JSON.stringify(text)}`, () => {
      const error = noAnswer(false, "absent.example:7400", text);
      expect(error.message).to.include(`no connection to absent.example:7400: ${words}`);
      expect(error).to.include({ code: "UNAVAILABLE", reason: "", outcome: "not-executed" });
    });
  }

  it("explains a lost connection and a late answer, and leaves the answers of members as they are", () => {
    const failed = (code: status, details: string, trailers: Record<string, string> = {}) => {
      const metadata = new Metadata();
      for (const [name, text] of Object.entries(trailers)) {
        metadata.set(name, text);
      }
      return callFailure(Object.assign(new Error(details), { code, details, metadata }), "a:7400");
    };
    const dropped = failed(status.UNAVAILABLE, "Connection dropped");
    expect(dropped).to.include({ outcome: "unknown", message: "the connection to a:7400 was lost before the answer" });
    const late = failed(status.DEADLINE_EXCEEDED, "Deadline exceeded after 0.3s,LB pick: 0.001s");
    expect(late).to.include({ outcome: "unknown", reason: "DEADLINE", message: "no answer from a:7400 in time" });
    const message = "No connection established";
    expect(failed(status.UNAVAILABLE, message, { outcome: "unknown" })).to.include({ outcome: "unknown", message });
    expect(failed(status.UNAVAILABLE, message, { "error-reason": "NO_LEADER" })).to.include({ message });
  });

  it("keeps it open whether a sent request was executed", () => {
    const error = noAnswer(true, "a:7400", "read ECONNRESET");
    expect(error).to.include({
      outcome: "unknown",
      message: "no answer from a:7400: the other side closed the connection (read ECONNRESET)",
    });
  });
});
