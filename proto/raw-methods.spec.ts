import {
  Client,
  credentials,
  type requestCallback,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { expect } from "chai";
import {
  decodeRequest,
  GetKeyRequest,
  GetKeyResponse,
  MalformedMessageError,
  rawMethods,
  serviceDefinitions,
  WatchKeysRequest,
  WatchKeysResponse,
} from "./index.ts";

describe("rawMethods", () => {
  let server: Server;
  let client: Client;
  const received: Buffer[] = [];

  before(async () => {
    server = new Server();
    server.addService(rawMethods(serviceDefinitions.KeyValueService), {
      getKey(call: ServerUnaryCall<Buffer, GetKeyResponse>, callback: sendUnaryData<GetKeyResponse>) {
        received.push(call.request);
        try {
          const { key } = decodeRequest(GetKeyRequest, call.request);
          callback(null, GetKeyResponse.create({ value: Buffer.from(key), revision: 7n }));
        } catch (error) {
          const details = error instanceof MalformedMessageError ? error.message : "unexpected";
          callback({ code: status.INVALID_ARGUMENT, details });
        }
      },
    });
    server.addService(rawMethods(serviceDefinitions.WatchService), {
      watchKeys(call: ServerWritableStream<Buffer, Buffer>) {
        const { startRevision } = decodeRequest(WatchKeysRequest, call.request);
        const response = WatchKeysResponse.create({ created: true, revision: startRevision });
        call.write(Buffer.from(WatchKeysResponse.encode(response).finish()));
        call.end();
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  });

  after(() => {
    client?.close();
    server?.forceShutdown();
  });

  /** Sends bytes as a GetKeyRequest, whatever they are. */
  function sendBytes(bytes: Buffer, callback: requestCallback<Buffer>): void {
    const path = serviceDefinitions.KeyValueService.getKey.path;
    const identity = (value: Buffer) => value;
    client.makeUnaryRequest(path, identity, identity, bytes, callback);
  }

  it("gives handlers the bytes of a request, and encodes their responses", async () => {
    const request = GetKeyRequest.create({ namespace: "n", key: "k" });
    const { path, requestSerialize, responseDeserialize } = serviceDefinitions.KeyValueService.getKey;
    const response = await new Promise<GetKeyResponse | undefined>((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, answer) =>
        error === null ? resolve(answer) : reject(error),
      );
    });
    expect(Buffer.from(response?.value ?? []).toString()).to.equal("k");
    expect(response?.revision).to.equal(7n);
    expect(received.at(-1)?.toString("hex")).to.equal("0a016e12016b");
  });

  it("lets handlers answer a malformed request with the field that is wrong, instead of INTERNAL", async () => {
    const error = await new Promise<{ code?: number; details?: string } | null>((resolve) => {
      sendBytes(Buffer.from("1201ff", "hex"), resolve);
    });
    expect(error).to.include({ code: status.INVALID_ARGUMENT, details: "field key is not valid UTF-8" });
  });

  it("serves streams whose handlers give bytes", async () => {
    const messages: WatchKeysResponse[] = [];
    const { path, requestSerialize, responseDeserialize } = serviceDefinitions.WatchService.watchKeys;
    const request = WatchKeysRequest.create({ startRevision: 3n });
    const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
    for await (const message of stream) {
      messages.push(message as WatchKeysResponse);
    }
    expect(messages).to.deep.equal([WatchKeysResponse.create({ created: true, revision: 3n })]);
  });

  it("leaves the generated definition as it was", () => {
    const raw = rawMethods(serviceDefinitions.KeyValueService);
    expect(Object.keys(raw)).to.deep.equal(Object.keys(serviceDefinitions.KeyValueService));
    expect(raw.getKey.path).to.equal("/coordination.v1.KeyValueService/GetKey");
    const bytes = Buffer.from("12016b", "hex");
    expect(raw.getKey.requestDeserialize(bytes)).to.equal(bytes);
    expect(serviceDefinitions.KeyValueService.getKey.requestDeserialize(bytes).key).to.equal("k");
  });
});
