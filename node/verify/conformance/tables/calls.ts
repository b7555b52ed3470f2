/** Calls below the operations: metadata as bytes, deadlines, calls without a token, and the cluster itself. */

import { randomUUID } from "node:crypto";
import { type GetClusterResponse, qualifiedServiceName, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import {
  bytesOf,
  expectFields,
  framed,
  getCluster,
  getKey,
  isPositive,
  type Origin,
  putKey,
  rawCall,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

const HEALTH_CHECK = "/grpc.health.v1.Health/Check";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** The gRPC prefix of a message. */
const PREFIX_BYTES = 5;
/** A HealthCheckResponse that says SERVING. */
const SERVING = Buffer.from([0x08, 0x01]);

function originOf({ testRun, here }: TestContext): Origin {
  return testRun.originOf(here.endpoint);
}

function headersOf({ testRun }: TestContext): Record<string, string> {
  return { authorization: `Bearer ${testRun.target.token}`, "api-version": "v1", "request-id": randomUUID() };
}

/** A protobuf field of a number and text. */
function textField(number: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

const metadata: Table = {
  name: "Metadata",
  entries: {
    "are refused when they come twice, as headers of their own": async (context) => {
      const body = framed(bytesOf(getKey, { namespace: context.namespace, key: context.name() }));
      const usual = headersOf(context);
      for (const field of ["api-version", "request-id"]) {
        const value = usual[field] ?? "";
        const twice = { ...usual, [field]: [value, value] };
        const answer = await rawCall(originOf(context), getKey.method.path, twice, body);
        await context.expectRefusal(answer, "BAD_METADATA", { field });
      }
    },
    "that are bytes and no text are refused": async (context) => {
      const body = framed(bytesOf(getKey, { namespace: context.namespace, key: context.name() }));
      const headers = { ...headersOf(context), "request-id": "\u00e4\u00ff" };
      const answer = await rawCall(originOf(context), getKey.method.path, headers, body);
      await context.expectRefusal(answer, "BAD_METADATA", { field: "request-id" });
    },
  },
};

const deadlines: Table = {
  name: "Deadlines",
  entries: {
    "S12: of a call that is over before it began are DEADLINE_EXCEEDED, outcome unknown, and nothing was done": async (
      context,
    ) => {
      const key = { namespace: context.namespace, key: context.name() };
      const headers = { ...headersOf(context), "grpc-timeout": "0m" };
      const answer = await rawCall(originOf(context), putKey.method.path, headers, framed(bytesOf(putKey, key)));
      await context.expectRefusal(answer, "DEADLINE");
      await context.refuses(getKey, key, "KEY_NOT_FOUND");
    },
    "S12: after a deadline, the same request id returns the outcome": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      const first = await context.here.call(putKey, key, { ...options, timeoutMs: 1 });
      expect(first.code).to.be.oneOf(["OK", "DEADLINE_EXCEEDED"]);
      const again = await context.askElsewhere(putKey, key, options);
      expect(again.created).to.equal(true);
      const { modRevision, version } = await context.ask(getKey, key);
      expect([modRevision, version]).to.deep.equal([again.modRevision, 1n]);
    },
  },
};

const cluster: Table = {
  name: "GetCluster",
  entries: {
    "names the members and the one that leads": async (context) => {
      const response = await until("a leader", async () => {
        const answer = await context.ask(getCluster, {});
        return answer.leaderId === "" ? null : answer;
      });
      const { members, leaderId } = response;
      expectFields(response, {
        clusterId: (id: string) => id !== "",
        members: (value: GetClusterResponse["members"]) => value === members,
        leaderId: (id: string) => /^[1-9][0-9]*$/.test(id),
        term: isPositive,
        revision: isPositive,
      });
      for (const member of members) {
        expectFields(member, {
          id: (id: string) => /^[1-9][0-9]*$/.test(id),
          name: (name: string) => name !== "",
          grpcEndpoint: (endpoint: string) => endpoint.includes(":"),
          httpEndpoint: (endpoint: string) => endpoint.includes(":"),
          learner: (learner: boolean) => typeof learner === "boolean",
          leader: member.id === leaderId,
        });
      }
      expect(members.filter(({ leader }) => leader)).to.have.lengthOf(1);
      expect(new Set(members.map(({ id }) => id)).size).to.equal(members.length);
      expect((await context.askElsewhere(getCluster, {})).clusterId).to.equal(response.clusterId);
    },
    "is as fresh as any linearizable read": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const { modRevision } = await context.askElsewhere(putKey, key);
      expect((await context.ask(getCluster, {})).revision >= modRevision).to.equal(true);
    },
  },
};

const withoutToken: Table = {
  name: "Health and reflection",
  entries: {
    "say without a token that each service is served, and know no other": async (context) => {
      const services = (
        ["KeyValueService", "LockService", "MemoryService", "WatchService", "ClusterService"] as const
      ).map(qualifiedServiceName);
      for (const service of ["", ...services]) {
        const body = framed(service === "" ? Buffer.alloc(0) : textField(1, service));
        // A member with too little processor time may be unavailable for a moment.
        await until(`${service} to be SERVING`, async () => {
          const answer = await rawCall(originOf(context), HEALTH_CHECK, {}, body);
          expect(answer.code, service).to.equal("OK");
          return answer.body.subarray(PREFIX_BYTES).equals(SERVING);
        });
      }
      const unknown = await rawCall(originOf(context), HEALTH_CHECK, {}, framed(textField(1, "no.such.Service")));
      expect(unknown.code).to.equal("NOT_FOUND");
    },
    "list the services to every client": async (context) => {
      const listServices = framed(textField(7, ""));
      const answer = await rawCall(originOf(context), REFLECTION, {}, listServices);
      expect(answer.code).to.equal("OK");
      for (const service of Object.keys(serviceDefinitions)) {
        expect(answer.body.includes(`coordination.v1.${service}`), service).to.equal(true);
      }
    },
    "a method that does not exist is UNIMPLEMENTED": async (context) => {
      const path = "/coordination.v1.KeyValueService/RenameKey";
      const answer = await rawCall(originOf(context), path, headersOf(context), framed(Buffer.alloc(0)));
      expect(answer.code).to.equal("UNIMPLEMENTED");
    },
  },
};

export const calls: readonly Table[] = [metadata, deadlines, cluster, withoutToken];
