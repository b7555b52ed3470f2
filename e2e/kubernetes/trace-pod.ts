/**
 * A collector of traces in a pod: it takes OTLP over HTTP in the binary encoding
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp), and keeps the latest requests.
 */

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { until } from "../cluster/index.ts";
import { isPodReady, LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";

const NAME = "traces";
const PORT = 4318;
/** For `cluster.tracing.endpoint` of a cluster in the same namespace. */
export const TRACES_ENDPOINT = `http://${NAME}:${PORT}`;
const REQUESTS_MAX = 500;

/** Takes requests by POST, and answers a GET with those that it has: JSON, in base64. */
const PROGRAM = `
  const requests = [];
  require("node:http").createServer(async (request, response) => {
    const chunks = await request.toArray();
    if (request.method === "GET") return response.end(JSON.stringify(requests));
    const isTraces = request.url === "/v1/traces" && request.headers["content-type"] === "application/x-protobuf";
    if (!isTraces) return response.writeHead(404).end();
    if (requests.length === ${REQUESTS_MAX}) requests.shift();
    requests.push(Buffer.concat(chunks).toString("base64"));
    response.setHeader("Content-Type", "application/x-protobuf").end();
  }).listen(${PORT});`;

/** The numbers of the fields of OTLP that this file reads. */
const FIELDS = {
  request: { resourceSpans: 1 },
  resourceSpans: { resource: 1, scopeSpans: 2 },
  resource: { attributes: 1 },
  attribute: { key: 1, value: 2 },
  value: { text: 1 },
  scopeSpans: { spans: 2 },
  span: { traceId: 1, name: 5 },
} as const;

export interface ExportedSpan {
  /** The name of the member that exported it. */
  readonly member: string;
  /** Hexadecimal. */
  readonly traceId: string;
  readonly name: string;
}

export class TracePod {
  readonly #cluster: QuoinCluster;

  private constructor(cluster: QuoinCluster) {
    this.#cluster = cluster;
  }

  /** Starts it in the namespace of the cluster. The cluster need not exist yet. */
  static async start(cluster: QuoinCluster): Promise<TracePod> {
    const { kubernetes, namespace } = cluster;
    await kubernetes.apply(namespace, pod(kubernetes.cluster.nodeImage), service());
    const path = `/api/v1/namespaces/${namespace}/pods/${NAME}`;
    await until("the collector of traces to be ready", async () => isPodReady(await kubernetes.get(path)), LIMIT_MS);
    return new TracePod(cluster);
  }

  /** The latest spans. */
  async spans(): Promise<readonly ExportedSpan[]> {
    const { kubernetes, namespace } = this.#cluster;
    const path = `/api/v1/namespaces/${namespace}/pods/${NAME}:${PORT}/proxy/`;
    const requests = (await kubernetes.get(path)) as unknown as readonly string[];
    return requests.flatMap((request) => spansOf(Buffer.from(request, "base64")));
  }
}

function spansOf(request: Uint8Array): ExportedSpan[] {
  return fieldsOf(request, FIELDS.request.resourceSpans).flatMap((resourceSpans) => {
    const [resource = new Uint8Array()] = fieldsOf(resourceSpans, FIELDS.resourceSpans.resource);
    const member = attributeOf(resource, "service.instance.id");
    return fieldsOf(resourceSpans, FIELDS.resourceSpans.scopeSpans)
      .flatMap((scopeSpans) => fieldsOf(scopeSpans, FIELDS.scopeSpans.spans))
      .map((span) => {
        const [traceId = new Uint8Array()] = fieldsOf(span, FIELDS.span.traceId);
        return { member, traceId: Buffer.from(traceId).toString("hex"), name: textOf(span, FIELDS.span.name) };
      });
  });
}

function attributeOf(resource: Uint8Array, key: string): string {
  const attributes = fieldsOf(resource, FIELDS.resource.attributes);
  const attribute = attributes.find((each) => textOf(each, FIELDS.attribute.key) === key) ?? new Uint8Array();
  const [value = new Uint8Array()] = fieldsOf(attribute, FIELDS.attribute.value);
  return textOf(value, FIELDS.value.text);
}

/** A field that is text; "" if it is absent. */
function textOf(message: Uint8Array, field: number): string {
  const [bytes = new Uint8Array()] = fieldsOf(message, field);
  return Buffer.from(bytes).toString();
}

/** The values of a field that is a message, text or bytes. */
function fieldsOf(message: Uint8Array, field: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const values: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) {
      values.push(reader.bytes());
    } else {
      reader.skip(type, number);
    }
  }
  return values;
}

function pod(image: string): object {
  const container = {
    name: NAME,
    image,
    command: ["node", "--eval", PROGRAM],
    readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: NAME, labels: { app: NAME } },
    spec: { containers: [container], terminationGracePeriodSeconds: 1 },
  };
}

function service(): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: NAME },
    spec: { selector: { app: NAME }, ports: [{ port: PORT }] },
  };
}
