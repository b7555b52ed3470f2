/**
 * The messages of grpc.testing.TestService that its test cases need, with the field numbers of gRPC's messages.proto.
 * Unknown fields are skipped.
 */
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

/** A request for answers of these sizes, or with this status; a unary request has at most one size. */
export interface TestRequest {
  readonly sizes: readonly number[];
  /** Bytes of its payload. */
  readonly payloadBytes: number;
  readonly status: TestStatus | null;
}

export interface TestStatus {
  readonly code: number;
  readonly message: string;
}

const Field = {
  /** Of SimpleRequest. */
  ResponseSize: 2,
  UnaryPayload: 3,
  /** Of StreamingOutputCallRequest. */
  ResponseParameters: 2,
  StreamingPayload: 3,
  /** Of StreamingInputCallRequest. */
  InputPayload: 1,
  /** Of both kinds of requests. */
  ResponseStatus: 7,
  /** Of Payload. */
  Body: 2,
  /** Of ResponseParameters. */
  Size: 1,
  /** Of EchoStatus. */
  Code: 1,
  Message: 2,
  /** Of all answers with a payload. */
  Payload: 1,
  /** Of StreamingInputCallResponse. */
  AggregatedPayloadSize: 1,
} as const;

/** Reads the fields of a message, each by its reader. */
function readFields(bytes: Uint8Array, readers: Readonly<Record<number, (reader: BinaryReader) => void>>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const read = readers[number];
    if (read === undefined) {
      reader.skip(wireType, number);
    } else {
      read(reader);
    }
  }
}

function bodyBytesOf(payload: Uint8Array): number {
  let length = 0;
  readFields(payload, {
    [Field.Body]: (reader) => {
      length = reader.bytes().length;
    },
  });
  return length;
}

function statusOf(bytes: Uint8Array): TestStatus {
  const status = { code: 0, message: "" };
  readFields(bytes, {
    [Field.Code]: (reader) => {
      status.code = reader.int32();
    },
    [Field.Message]: (reader) => {
      status.message = reader.string();
    },
  });
  return status;
}

/** A SimpleRequest. */
export function readUnaryRequest(bytes: Uint8Array): TestRequest {
  const request = { sizes: [] as number[], payloadBytes: 0, status: null as TestStatus | null };
  readFields(bytes, {
    [Field.ResponseSize]: (reader) => request.sizes.push(reader.int32()),
    [Field.UnaryPayload]: (reader) => {
      request.payloadBytes = bodyBytesOf(reader.bytes());
    },
    [Field.ResponseStatus]: (reader) => {
      request.status = statusOf(reader.bytes());
    },
  });
  return request;
}

/** A StreamingOutputCallRequest. */
export function readStreamingRequest(bytes: Uint8Array): TestRequest {
  const request = { sizes: [] as number[], payloadBytes: 0, status: null as TestStatus | null };
  readFields(bytes, {
    [Field.ResponseParameters]: (reader) =>
      readFields(reader.bytes(), { [Field.Size]: (inner) => request.sizes.push(inner.int32()) }),
    [Field.StreamingPayload]: (reader) => {
      request.payloadBytes = bodyBytesOf(reader.bytes());
    },
    [Field.ResponseStatus]: (reader) => {
      request.status = statusOf(reader.bytes());
    },
  });
  return request;
}

/** A StreamingInputCallRequest. */
export function readInputRequest(bytes: Uint8Array): TestRequest {
  let payloadBytes = 0;
  readFields(bytes, {
    [Field.InputPayload]: (reader) => {
      payloadBytes = bodyBytesOf(reader.bytes());
    },
  });
  return { sizes: [], payloadBytes, status: null };
}

/** An answer with a payload of this many bytes, or an empty one. */
export function writePayload(size: number | null): Buffer {
  const writer = new BinaryWriter();
  if (size !== null) {
    const payload = new BinaryWriter().uint32((Field.Body << 3) | 2).bytes(new Uint8Array(size));
    writer.uint32((Field.Payload << 3) | 2).bytes(payload.finish());
  }
  return Buffer.from(writer.finish());
}

/** A StreamingInputCallResponse. */
export function writeAggregatedSize(size: number): Buffer {
  return Buffer.from(
    new BinaryWriter()
      .uint32(Field.AggregatedPayloadSize << 3)
      .int32(size)
      .finish(),
  );
}
