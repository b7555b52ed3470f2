import { WatchKeysResponse } from "@quoin/proto";
import { expect } from "chai";
import type { Answer } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { follow } from "./follow.ts";
import { watchKeys } from "./operations.ts";
import { Stream } from "./stream.ts";
import { until } from "./until.ts";

const answer = (code: string): Answer<never> => ({ code, message: "" }) as Answer<never>;
const message = (fields: Partial<WatchKeysResponse>): WatchKeysResponse => WatchKeysResponse.fromPartial(fields);

describe("follow", () => {
  let opened: { readonly startRevision: bigint | undefined; readonly stream: Stream<WatchKeysResponse> }[];
  const connection = {
    stream: (_operation: unknown, { startRevision }: { startRevision?: bigint }) => {
      const stream = new Stream<WatchKeysResponse>(() => stream.end(answer("CANCELLED")));
      opened.push({ startRevision, stream });
      return stream;
    },
  } as unknown as Connection;
  const openedTo = (count: number) => until(`${count} streams`, () => opened.length >= count);

  beforeEach(() => {
    opened = [];
  });

  it("goes on behind the last message, or at its start, and says only once that it is in place", async () => {
    const followed = follow(connection, watchKeys, { startRevision: 9n });
    opened[0]?.stream.end(answer("UNAVAILABLE"));
    await openedTo(2);
    opened[1]?.stream.receive(message({ created: true, revision: 4n }));
    opened[1]?.stream.end(answer("UNAVAILABLE"));
    await openedTo(3);
    opened[2]?.stream.receive(message({ created: true, revision: 6n }));
    opened[2]?.stream.receive(message({ revision: 12n }));
    opened[2]?.stream.end(answer("UNAVAILABLE"));
    await openedTo(4);
    expect(opened.map(({ startRevision }) => startRevision)).to.deep.equal([9n, 9n, 9n, 13n]);
    expect(followed.messages.map(({ created, revision }) => [created, revision])).to.deep.equal([
      [true, 4n],
      [false, 12n],
    ]);
    followed.cancel();
    expect((await followed.ended()).code).to.equal("CANCELLED");
  });

  it("ends with any other answer", async () => {
    const followed = follow(connection, watchKeys, {});
    opened[0]?.stream.end(answer("UNAUTHENTICATED"));
    expect((await followed.ended()).code).to.equal("UNAUTHENTICATED");
    expect(opened).to.have.length(1);
  });
});
