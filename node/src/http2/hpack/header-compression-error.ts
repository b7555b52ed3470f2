/**
 * A header block that cannot be decoded. The dynamic table is out of step with the peer's from then on, so the connection
 * must end with COMPRESSION_ERROR (RFC 9113 §4.3).
 */
export class HeaderCompressionError extends Error {
  override readonly name = "HeaderCompressionError";
}
