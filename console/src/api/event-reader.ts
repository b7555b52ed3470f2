/** Reads server-sent events from text as it arrives (HTML Standard, section 9.2.6). */

/** One event. */
export interface ServerSentEvent {
  /** Empty = the event has no id. */
  readonly id: string;
  /** Type of the event; `message` if it names none. */
  readonly type: string;
  readonly data: string;
}

const DEFAULT_TYPE = "message";

export class EventReader {
  #rest = "";
  #fields = { id: "", type: "", data: "" };
  #hasData = false;

  /** Returns the events that this piece of the stream completes. */
  add(text: string): ServerSentEvent[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#addLine(line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  #addLine(line: string): ServerSentEvent[] {
    if (line === "") {
      const { id, type, data } = this.#fields;
      const events = this.#hasData ? [{ id, type: type || DEFAULT_TYPE, data }] : [];
      this.#fields = { id: "", type: "", data: "" };
      this.#hasData = false;
      return events;
    }
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") {
      this.#fields.data = this.#hasData ? `${this.#fields.data}\n${value}` : value;
      this.#hasData = true;
    } else if (name === "id") {
      this.#fields.id = value;
    } else if (name === "event") {
      this.#fields.type = value;
    }
    return [];
  }
}
