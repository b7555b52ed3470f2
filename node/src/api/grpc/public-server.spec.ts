import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials, type MethodDefinition, status } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { service as healthService } from "grpc-health-check";
import { generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { GrpcPorts, grpcFrame, rawGrpcCall } from "../../../test/harness/index.ts";
import { secrets } from "../../../test/index.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const PUT = PutKeyRequest.fromPartial({ namespace: "default", key: "k" });

describe("public server", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  describe("message size", () => {
    const { encode } = PutKeyRequest;
    /** A message of exactly this many bytes; the value fills the rest. */
    function messageOf(bytes: number): Buffer {
      const guess = encode({ ...PUT, value: Buffer.alloc(bytes) }).finish().length;
      return Buffer.from(encode({ ...PUT, value: Buffer.alloc(bytes - (guess - bytes)) }).finish());
    }

    it("of 4 MiB is decoded: the value in it is too large", async () => {
      const message = messageOf(4_194_304);
      expect(message).have.length(4_194_304);
      const answer = await ports.owner.call(putKey, message);
      expect([answer.code, answer.reason]).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE"]);
      expect(answer.details?.metadata).deep.equal(
        new Map([
          ["field", "value"],
          ["limit", "1048576"],
        ]),
      );
    });

    it("above 4 MiB is refused as gRPC itself does", async () => {
      const answer = await ports.owner.call(putKey, messageOf(4_194_305));
      expect(answer.code).equal("RESOURCE_EXHAUSTED");
      expect((await ports.owner.call(putKey, PUT)).code, "the connection goes on").equal("OK");
    });

    it("of a frame that announces too much is refused before the message arrives", async () => {
      const frame = grpcFrame(Buffer.alloc(0));
      frame.writeUInt32BE(0xffffffff, 1);
      const headers = {
        authorization: `Bearer ${await ports.token()}`,
        "api-version": "v1",
        "request-id": randomUUID(),
      };
      expect((await rawGrpcCall(ports.publicPort, putKey.path, headers, frame)).grpcStatus).equal("8");
    });
  });

  describe("tokens", () => {
    const cases = new Map<string, (claims: Record<string, unknown>) => Promise<string>>([
      ["no token at all", async () => ""],
      ["no JWT", async () => "e30"],
      [
        "signed with another key",
        async (claims) =>
          new SignJWT(claims).setProtectedHeader(header()).sign((await generateKeyPair("EdDSA")).privateKey),
      ],
      ["alg none", async (claims) => new UnsecuredJWT(claims).encode()],
      [
        "HS256 with the public key as its secret",
        (claims) =>
          new SignJWT(claims).setProtectedHeader({ ...header(), alg: "HS256" }).sign(secrets.founding.signingPublicKey),
      ],
      ["namespaces as a string (S40)", (claims) => signed({ ...claims, namespaces: "default" })],
      ["access as a string (S40)", (claims) => signed({ ...claims, access: "admin" })],
      ["of another cluster", (claims) => signed({ ...claims, aud: "another" })],
      ["expiry that is no integer (S41)", (claims) => signed({ ...claims, exp: 2_000_000_000.5 })],
    ]);

    function header() {
      return { alg: "EdDSA", kid: secrets.founding.signingKeyId };
    }

    async function signed(claims: Record<string, unknown>): Promise<string> {
      const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
      const { signingPublicKey, signingPrivateKey } = secrets.founding;
      const jwk = { kty: "OKP", crv: "Ed25519", x: base64url(signingPublicKey), d: base64url(signingPrivateKey) };
      return new SignJWT(claims).setProtectedHeader(header()).sign(await importJWK(jwk, "EdDSA"));
    }

    async function ownerClaims(): Promise<Record<string, unknown>> {
      const [, payload = ""] = (await ports.token()).split(".");
      return JSON.parse(Buffer.from(payload, "base64url").toString());
    }

    it("in the form of the service are valid: the cases below differ in one thing each", async () => {
      expect((await ports.caller(await signed(await ownerClaims())).call(putKey, PUT)).code).equal("OK");
    });

    for (const [name, make] of cases) {
      it(`are refused: ${name}`, async () => {
        const token = await make(await ownerClaims());
        const answer = await ports.caller(token).call(putKey, PUT);
        expect([answer.code, answer.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
        expect(token === "" || !answer.message.includes(token), "no token in messages").equal(true);
      });
    }

    it("are refused when they have expired", async () => {
      ports.member.cluster.clock.wall += 3_600_000;
      const answer = await ports.owner.call(putKey, PUT);
      expect([answer.code, answer.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_EXPIRED"]);
    });

    it("are refused when the API key they come from is revoked", async () => {
      expect((await ports.owner.call(putKey, PUT)).code).equal("OK");
      ports.member.cluster.changeApiKey({ revokedAtMs: 1 });
      const answer = await ports.owner.call(putKey, PUT);
      expect([answer.code, answer.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
    });
  });

  it("does not know services outside the contract", async () => {
    const unknown = { ...serviceDefinitions.KeyValueService.getKey, path: "/coordination.v1.NoService/GetKey" };
    expect((await ports.owner.call(unknown, Buffer.alloc(0))).code).equal("UNIMPLEMENTED");
  });

  describe("health", () => {
    const check = healthService.Check as unknown as MethodDefinition<{ service: string }, { status: string }>;
    const watch = healthService.Watch as unknown as MethodDefinition<{ service: string }, { status: string }>;
    const services = [
      "",
      ...[
        ...["KeyValueService", "LockService", "MemoryService", "WatchService", "ClusterService", "ClusterAdminService"],
      ].map((name) => `coordination.v1.${name}`),
    ];

    async function statuses(): Promise<(string | undefined)[]> {
      const answers = services.map((service) =>
        ports.owner.call(check, { service }, { metadata: new Map([["authorization", null]]) }),
      );
      return (await Promise.all(answers)).map(({ response }) => response?.status);
    }

    it("is the same as the member's for every service, without a token", async () => {
      expect(await statuses()).deep.equal(Array(7).fill("NOT_SERVING"));
      ports.publicServer.setServing(true);
      expect(await statuses()).deep.equal(Array(7).fill("SERVING"));
      ports.publicServer.setServing(false);
      expect(await statuses()).deep.equal(Array(7).fill("NOT_SERVING"));
      expect((await ports.owner.call(check, { service: "coordination.v1.LogService" })).code).equal("NOT_FOUND");
    });

    it("tells a watch each state once, also of a service that is not known", async () => {
      const watches = ["", "coordination.v1.LogService"].map((service) => ports.owner.stream(watch, { service }));
      const seen = async (at: number, ...expected: readonly string[]): Promise<void> => {
        const states = await watches[at]?.until("a state", (messages) =>
          messages.length >= expected.length ? messages.map(({ status: now }) => now) : undefined,
        );
        expect(states).deep.equal(expected);
      };
      await seen(0, "NOT_SERVING");
      ports.publicServer.setServing(true);
      ports.publicServer.setServing(true);
      await seen(0, "NOT_SERVING", "SERVING");
      ports.publicServer.setServing(false);
      await seen(0, "NOT_SERVING", "SERVING", "NOT_SERVING");
      await seen(1, "SERVICE_UNKNOWN");
      for (const each of watches) {
        each.cancel();
      }
    });

    it("refuses a request that is malformed", async () => {
      for (const method of [check, watch]) {
        const raw = { ...method, responseStream: false, requestSerialize: () => Buffer.of(0xff) };
        const answer = await ports.owner.call(raw as typeof check, { service: "" });
        expect([answer.code, answer.reason]).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
      }
    });
  });

  describe("stop", () => {
    it("reports NOT_SERVING first, finishes open calls, and takes no new ones (S47)", async () => {
      ports.publicServer.setServing(true);
      const { replica } = ports.member;
      if (replica === null) {
        throw new Error("the member serves");
      }
      const execute = replica.onPropose;
      const proposed = new Promise<() => void>((resolve) => {
        replica.onPropose = (command, done) => resolve(() => execute(command, done));
      });
      const running = ports.owner.call(putKey, PUT);
      const finish = await proposed;
      const watch = healthService.Watch as unknown as MethodDefinition<{ service: string }, { status: string }>;
      const client = new Client(`127.0.0.1:${ports.publicPort}`, credentials.createInsecure());
      const health = client.makeServerStreamRequest(watch.path, watch.requestSerialize, watch.responseDeserialize, {
        service: "",
      });
      const seen: string[] = [];
      const told = new Promise<void>((resolve) => {
        health.on("data", ({ status: now }) => {
          if (seen.push(now) === 1) {
            resolve();
          }
        });
      });
      const ended = new Promise<{ code: number }>((resolve) => {
        health.on("error", (error) => resolve(error as unknown as { code: number }));
      });
      await told;
      // A watch of its health does not delay the end: the grace period is not used up.
      const stopped = ports.publicServer.stop(600_000);
      finish();
      expect((await running).code).equal("OK");
      await stopped;
      expect((await ended).code).equal(status.UNAVAILABLE);
      expect(seen).deep.equal(["SERVING", "NOT_SERVING"]);
      client.close();
      expect((await ports.owner.call(putKey, PUT)).code).equal("UNAVAILABLE");
    });
  });

  describe("reflection", () => {
    interface ReflectionResponse {
      readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
      readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
      readonly errorResponse?: { readonly errorCode: number };
    }

    /** Sends one request, as grpcurl does, without a token. */
    function reflect(version: "v1" | "v1alpha", request: object): Promise<ReflectionResponse> {
      const root = dirname(createRequire(import.meta.url).resolve("@grpc/reflection/package.json"));
      const definitions = loadSync(join(root, `build/proto/grpc/reflection/${version}/reflection.proto`));
      const service = definitions[`grpc.reflection.${version}.ServerReflection`] as ServiceDefinition;
      const method = service.ServerReflectionInfo as unknown as MethodDefinition<object, ReflectionResponse>;
      const client = new Client(`127.0.0.1:${ports.publicPort}`, credentials.createInsecure());
      return new Promise<ReflectionResponse>((resolve, reject) => {
        const stream = client.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize);
        stream.on("data", resolve);
        stream.on("error", reject);
        stream.end(request);
      }).finally(() => client.close());
    }

    it("lists the services that are served", async () => {
      for (const version of ["v1", "v1alpha"] as const) {
        const { listServicesResponse } = await reflect(version, { listServices: "*" });
        expect(listServicesResponse?.service.map(({ name }) => name)).have.members([
          "coordination.v1.KeyValueService",
          "coordination.v1.LockService",
          "coordination.v1.MemoryService",
          "coordination.v1.SessionService",
          "coordination.v1.TransactionService",
          "coordination.v1.WatchService",
          "coordination.v1.EventLogService",
          "coordination.v1.AccountService",
          "coordination.v1.ClusterService",
          "coordination.v1.ClusterAdminService",
          "grpc.health.v1.Health",
        ]);
      }
    });

    it("describes their messages, including the details of errors", async () => {
      for (const fileContainingSymbol of [
        "coordination.v1.KeyValueService.PutKey",
        "google.rpc.ErrorInfo",
        "grpc.health.v1.Health",
      ]) {
        const { fileDescriptorResponse } = await reflect("v1", { fileContainingSymbol });
        const [file = Buffer.alloc(0)] = fileDescriptorResponse?.fileDescriptorProto ?? [];
        expect(Buffer.from(file).includes(fileContainingSymbol.split(".").at(-1) ?? "?"), fileContainingSymbol).equal(
          true,
        );
      }
    });

    it("sends every file that a file imports, under the name in the import", async () => {
      const { fileDescriptorResponse } = await reflect("v1", {
        fileContainingSymbol: "coordination.v1.KeyValueService",
      });
      const files = (fileDescriptorResponse?.fileDescriptorProto ?? []).map((bytes) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      );
      const names = files.map(({ name }) => name);
      expect(names[0]).equal("coordination/v1/key_value.proto");
      expect(names).include.members(files.flatMap(({ dependency }) => dependency));
      for (const fileByFilename of names) {
        const answer = await reflect("v1", { fileByFilename });
        expect(answer.fileDescriptorResponse?.fileDescriptorProto, fileByFilename).not.equal(undefined);
      }
    });

    it("survives the names of JavaScript's own properties", async () => {
      for (const fileContainingSymbol of ["constructor", "__proto__", "toString"]) {
        await reflect("v1", { fileContainingSymbol });
      }
      const { errorResponse } = await reflect("v1", { fileContainingSymbol: "coordination.v1.Nothing" });
      expect(errorResponse?.errorCode).equal(status.NOT_FOUND);
    });
  });
});
