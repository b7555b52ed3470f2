/**
 * A header block cannot be decoded. The dynamic table then differs from the peer's, so the connection must end with
 * COMPRESSION_ERROR (RFC 9113 §4.3).
 */
export class HeaderCompressionError extends Error {
  override readonly name = "HeaderCompressionError";
}
