import { expect } from "chai";
import { EventReader, type ServerSentEvent } from "./event-reader.ts";

const STREAM =
  ': comment\n\nid: 7\nevent: put\ndata: {"a":1}\n\nid:8\r\ndata: one\r\ndata:two\r\n\r\nid: 9\n\ndata: cut';

function readInPieces(length: number): ServerSentEvent[] {
  const reader = new EventReader();
  const events: ServerSentEvent[] = [];
  for (let at = 0; at < STREAM.length; at += length) {
    events.push(...reader.add(STREAM.slice(at, at + length)));
  }
  return events;
}

describe("a stream of server-sent events", () => {
  it("gives the same events however it is cut", () => {
    for (let length = 1; length <= STREAM.length; length++) {
      expect(readInPieces(length), `pieces of ${length}`).to.deep.equal([
        { id: "7", type: "put", data: '{"a":1}' },
        { id: "8", type: "message", data: "one\ntwo" },
      ]);
    }
  });

  it("has no event without data, and none before its end has arrived", () => {
    expect(new EventReader().add("id: 1\n\ndata: x\n")).to.deep.equal([]);
  });
});
