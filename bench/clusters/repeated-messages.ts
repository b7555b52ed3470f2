/** Decodes messages that many watchers receive as the same bytes only once. */
export class RepeatedMessages<Message> {
  readonly #decode: (bytes: Buffer) => Message;
  #last: { readonly bytes: Buffer; readonly message: Message } | null = null;

  constructor(decode: (bytes: Buffer) => Message) {
    this.#decode = decode;
  }

  /** The message of these bytes. Raises the errors of the decoder. */
  decode(bytes: Buffer): Message {
    if (this.#last === null || !this.#last.bytes.equals(bytes)) {
      this.#last = { bytes, message: this.#decode(bytes) };
    }
    return this.#last.message;
  }
}
